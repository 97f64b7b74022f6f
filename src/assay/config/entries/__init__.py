"""An entry and what it may say."""
