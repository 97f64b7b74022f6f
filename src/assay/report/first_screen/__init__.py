"""What a report begins with: one sentence, and a card for all that a person has to look at."""
