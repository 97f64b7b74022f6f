from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ChatRow:
    """What a conversation consists of; a part that a data set lacks is empty."""

    system: str
    user: str
    assistant: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages up to the answer. Without an input, the instruction is the question itself."""
        if not self.user:
            return [{"role": "user", "content": self.system}]
        asked = {"role": "user", "content": self.user}
        return [{"role": "system", "content": self.system}, asked] if self.system else [asked]
