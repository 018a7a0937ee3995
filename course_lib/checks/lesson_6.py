"""Exercises of lesson 6: the Transformer taken apart."""

ASKED = []
