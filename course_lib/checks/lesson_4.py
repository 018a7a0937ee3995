"""Exercises of lesson 4: multi-head attention."""

ASKED = []
