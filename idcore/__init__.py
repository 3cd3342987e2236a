"""The shared core of the RocketMQ id console. It depends neither on Streamlit nor on Plotly."""

__version__ = "0.1.0"
