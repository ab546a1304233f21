"""Writes docs/images/report.png: the page of the reproduction as a browser shows it.

`make pictures` runs it; it needs Chromium and the library playwright.
"""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from docs.karel_numbers import results
from docs.markdown import ROOT, read
from unskew.experiments.page.page import write_page

NAMES = ("chromium", "chromium-browser", "google-chrome")
STEPS = 6  # of the run that is shown
SECTION = "Runs to step through"


def main() -> None:
    """Make the page, and a picture of a run in it."""
    browser = next(path for path in map(shutil.which, NAMES) if path)
    with TemporaryDirectory() as folder, sync_playwright() as tool:
        page = write_page([read("calculator"), *results().values()], Path(folder) / "report.html")
        started = tool.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        tab = started.new_page(viewport={"width": 1180, "height": 860}, device_scale_factor=1.5)
        tab.goto(page.as_uri())
        tab.wait_for_timeout(2_000)
        _step(tab)
        tab.screenshot(path=ROOT / "docs" / "images" / "report.png")
        started.close()


def _step(tab: Page) -> None:
    """Go to the run and take a few steps of it."""
    heading = tab.get_by_role("heading", name=SECTION)
    heading.evaluate("heading => heading.scrollIntoView()")
    for _ in range(STEPS):
        tab.get_by_role("button", name="Step", exact=True).click()
    heading.evaluate("heading => heading.scrollIntoView()")
    tab.wait_for_timeout(1_000)


if __name__ == "__main__":
    main()
