"""What Streamlit runs for every visitor and every click: the frame with one page in it. Contains nothing else."""

from pages.parts import frame

frame.draw_frame()
