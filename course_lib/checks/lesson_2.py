"""Exercises of lesson 2: Bahdanau attention."""

ASKED = []
