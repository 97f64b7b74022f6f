"""Queries through a graph whose stages all run in the thread that sends them."""
