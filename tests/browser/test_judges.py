"""The judges see the faults that they are there for, on small pages that have them."""

import pytest

from browser import judges

pytestmark = pytest.mark.browser

LONG = "x" * 300


def root(page, body):
    page.set_content(f'<body style="margin: 0">{body}')
    return page.query_selector("body")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<svg height="800"></svg>', '"svg" ends 80 pixels outside'),
        ('<p style="position: absolute; left: 1300px">far</p>', '"far" ends'),
        (f'<pre style="overflow: auto; width: 600px">{LONG}</pre>', "is cut by"),
        ('<pre style="overflow: hidden; height: 40px">1\n2\n3\n4\n5\n6</pre>', "is cut by"),
    ],
)
def test_what_does_not_fit_is_seen(page, body, said):
    assert said in judges.overflow(page, root(page, body))[0]


def test_what_fits_or_is_not_projected_is_no_fault(page):
    fits = f'<p>short</p><pre style="white-space: pre-wrap; overflow-wrap: anywhere">{LONG}</pre>'
    body = f'{fits}<aside class="notes"><img alt="n" style="height: 900px; width: 9px"></aside>'
    assert judges.overflow(page, root(page, body)) == []


@pytest.mark.parametrize("text", [r"<p>so $a_i = 1$ is</p>", r"<p>\(a\)</p>", "<mjx-merror>a_i_j</mjx-merror>"])
def test_maths_that_is_not_typeset_is_seen(page, text):
    assert len(judges.untypeset(page, root(page, text))) == 1


def test_dollars_in_code_and_prices_are_no_maths(page):
    assert judges.untypeset(page, root(page, "<code>$a + $b</code> costs 3 $ <p>5 $</p>")) == []


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("console.error('bad')", "console: bad"),
        ("setTimeout(() => { throw Error('worse') })", "uncaught: worse"),
        ("fetch('http://192.0.2.1/x').catch(() => 0)", "asks another host: http://192.0.2.1/x"),
        ("new WebSocket('ws://192.0.2.1/y')", "asks another host: ws://192.0.2.1/y"),
        ("open('http://192.0.2.1/z')", "asks another host: http://192.0.2.1/z"),
    ],
)
def test_what_goes_wrong_on_a_page_is_kept(browser, script, said):
    context = browser.new_context()
    watch, page = judges.Watch(context), context.new_page()
    page.evaluate(f"() => {{ {script}; }}")
    page.wait_for_timeout(300)
    context.close()
    assert any(fault.startswith(said) for fault in watch.faults), watch.faults
