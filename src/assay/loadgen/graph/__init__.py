"""Stages joined into a graph: fan-out, fan-in, routers, bounded cycles."""
