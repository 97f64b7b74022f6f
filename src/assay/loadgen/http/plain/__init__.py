"""The client in plain Python: for TLS, where the compiled library is missing, and to check the compiled one against."""
