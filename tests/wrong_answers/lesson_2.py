"""Lesson 2: Bahdanau attention."""
