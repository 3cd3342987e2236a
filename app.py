"""The console's front door: `streamlit run app.py` serves it. It has no logic of its own."""

import streamlit as st

if __name__ == "__main__":
    from pages.parts import frame

    frame.draw_frame()  # AppTest runs this very file as the script
else:
    from pages.parts import serve

    serve.check_start()
    # `streamlit run app.py` imports this file once and serves what is called `app`. The script of every visitor is
    # pages/entry.py: with a folder pages/ beside the script, a cold deep link would go through Streamlit's legacy
    # page discovery, which lays a "Page not found" dialog over the right page.
    app = st.App(
        "pages/entry.py",
        lifespan=serve.lifespan,
        middleware=serve.MIDDLEWARE,
        on_script_error=serve.on_script_error,
    )
