"""The client in C (`native/c/http`), and the Python that gives it memory and plans."""
