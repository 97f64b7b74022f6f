from __future__ import annotations

import pytest

from assay.compat.plain_logger import logger


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Without the time in front."""
    return [line.partition(" | ")[2] for line in capsys.readouterr().err.splitlines()]


def test_every_level_is_a_line_with_its_values_put_in(capsys: pytest.CaptureFixture[str]) -> None:
    logger.trace("not shown")
    for level in ("debug", "info", "success", "warning", "error", "critical"):
        getattr(logger, level)("{} of {total}", 1, total=2)
    logger.log("INFO", "a path {not} filled in")
    logger.log(35, "{}", "a number")
    assert lines(capsys) == [
        *(f"{level:<8} | 1 of 2" for level in ("DEBUG", "INFO", "SUCCESS", "WARNING", "ERROR", "CRITICAL")),
        "INFO     | a path {not} filled in",
        "Level 35 | a number",
    ]


def test_values_that_do_not_fit_are_shown_and_never_raise(capsys: pytest.CaptureFixture[str]) -> None:
    logger.info("{} {}", 1)
    logger.info("{name}", other=1)
    assert lines(capsys) == ["INFO     | {} {} (1,)", "INFO     | {name}  {'other': 1}"]


def test_what_configures_it_is_taken_and_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    logger.remove()
    logger.remove(logger.add("file.log", level="INFO", rotation="1 MB"))
    logger.configure(handlers=[])
    logger.enable("a")
    logger.disable("a")
    with logger.contextualize(run=1):
        logger.bind(run=1).opt(exception=True).patch(print).info("still here")
    logger.complete()
    assert lines(capsys) == ["INFO     | still here"]
    with pytest.raises(AttributeError, match=r"has no logger\.parse; pip install loguru"):
        logger.parse("x")


def test_what_is_raised_is_caught_with_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    @logger.catch
    def bare() -> None:
        raise ValueError("one")

    @logger.catch(KeyError, reraise=True)
    def chosen() -> None:
        raise KeyError("two")

    bare()
    with pytest.raises(KeyError):
        chosen()
    with pytest.raises(ValueError, match="three"), logger.catch(KeyError):
        raise ValueError("three")
    try:
        raise OSError("four")
    except OSError:
        logger.exception("it failed")
    said = capsys.readouterr().err
    assert "caught ValueError: one" in said
    assert "caught KeyError: 'two'" in said
    assert "three" not in said
    assert "OSError: four" in said
    assert "| ERROR    | it failed" in said
