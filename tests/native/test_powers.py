from tools.write_powers import TABLE, powers


def test_the_table_of_powers_is_what_exact_integers_give() -> None:
    assert TABLE.read_text() == powers()
