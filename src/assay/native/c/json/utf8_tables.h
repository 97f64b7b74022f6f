/* Tables of "Validating UTF-8 in less than one instruction per byte" (Keiser, Lemire, 2021, arXiv:2010.03090).

   Every error in UTF-8 but one kind shows in two bytes that follow one another. Each of the three tables takes four
   bits of such a pair (the upper and lower half of the first byte, the upper half of the second) and gives the errors
   that those bits allow; an error that all three allow is there. What is left are the third and fourth bytes of a
   character, which must be continuations: bit TWO_CONTINUATIONS must be set there and nowhere else. */
#pragma once

enum {
    TOO_SHORT = 1 << 0,         /* a lead byte, then no continuation */
    TOO_LONG = 1 << 1,          /* ASCII, then a continuation */
    OVERLONG_3 = 1 << 2,        /* E0, then below A0 */
    TOO_LARGE = 1 << 3,         /* F4, then above 8F; F5 and more */
    SURROGATE = 1 << 4,         /* ED, then above 9F */
    OVERLONG_2 = 1 << 5,        /* C0 or C1 */
    OVERLONG_4 = 1 << 6,        /* F0, then below 90 */
    TOO_LARGE_1000 = 1 << 6,    /* F5 and more, then below 90 */
    TWO_CONTINUATIONS = 1 << 7,
    CARRY = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS,
    LARGE = CARRY | TOO_LARGE | TOO_LARGE_1000,
    SECOND = TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS,
};

#define FIRST_UPPER                                                                                           \
    TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, (char)TWO_CONTINUATIONS,      \
        (char)TWO_CONTINUATIONS, (char)TWO_CONTINUATIONS, (char)TWO_CONTINUATIONS, TOO_SHORT | OVERLONG_2,        \
        TOO_SHORT, TOO_SHORT | OVERLONG_3 | SURROGATE, TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4
#define FIRST_LOWER                                                                                           \
    (char)(CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4), (char)(CARRY | OVERLONG_2), (char)CARRY, (char)CARRY,   \
        (char)(CARRY | TOO_LARGE), (char)LARGE, (char)LARGE, (char)LARGE, (char)LARGE, (char)LARGE, (char)LARGE,  \
        (char)LARGE, (char)LARGE, (char)(LARGE | SURROGATE), (char)LARGE, (char)LARGE
#define SECOND_UPPER                                                                                          \
    TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,                       \
        (char)(SECOND | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4), (char)(SECOND | OVERLONG_3 | TOO_LARGE),       \
        (char)(SECOND | SURROGATE | TOO_LARGE), (char)(SECOND | SURROGATE | TOO_LARGE), TOO_SHORT, TOO_SHORT,     \
        TOO_SHORT, TOO_SHORT
