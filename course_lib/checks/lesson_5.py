"""Exercises of lesson 5: the Transformer."""

ASKED = []
