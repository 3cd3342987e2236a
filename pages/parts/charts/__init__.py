"""Figures, by the page they are drawn for, on the paper of pages/parts/figures.py. Tables in, figures out."""
