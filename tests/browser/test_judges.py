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


TALL = '<div class="am-explorer" style="width: {}px; height: {}px">moves</div>'


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<h2>A claim</h2>", ["nearly empty: what it shows reaches over"]),
        ('<img style="width: 1280px; height: 300px">', []),
        ('<img style="width: 1280px; height: 280px">', ["nearly empty: what it shows reaches over 39 %"]),
        ('<img style="width: 900px; height: 340px"><aside class="notes">Say it.<p>' + 9 * "<br>" + "And.", ["nearly"]),
        (TALL.format(1210, 700) + "<p style='margin-top: -200px'>" + LONG, []),
        (TALL.format(1210, 500) + "<p>" + LONG, ["an explorer does not fill its slide: 1210 wide, it ends at 500"]),
        (TALL.format(900, 700) + "<p style='margin-top: -200px'>" + LONG, ["an explorer does not fill its slide: 900"]),
    ],
)
def test_a_slide_that_is_not_filled_is_seen(page, body, said):
    found = judges.unfilled(page, root(page, body))
    assert len(found) == len(said) and all(map(str.startswith, found, said))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"<p>{LONG}</p>", "the page scrolls sideways"),
        (f"<p>{LONG}</p>", '" lies outside of the page'),
        (
            '<main style="overflow: auto"><h1>a</h1><img alt="wide" style="width: 1400px; height: 9px">',
            '"wide" lies out',
        ),
        ('<div style="overflow: hidden; width: 90px"><p style="width: 99px; text-align: right">end', '"end" is cut'),
        ('<div style="overflow: clip"><p style="margin-left: -60px">start', '"start" is cut'),
    ],
)
def test_what_cannot_be_scrolled_to_is_seen(page, body, said):
    root(page, body)
    assert any(said in fault for fault in judges.out_of_reach(page))


def test_what_scrolls_by_itself_or_is_drawn_in_is_in_reach(page):
    scrolls = f'<h1>a</h1><pre style="overflow: auto">{LONG}</pre>'
    drawer = '<nav style="position: fixed; right: -200px; width: 200px; overflow: hidden">menu</nav>'
    unseen = '<div style="position: absolute; width: 1px; overflow: hidden; white-space: nowrap">for the ear</div>'
    root(page, f'<div style="overflow-x: hidden">{scrolls}{drawer}{unseen}</div>')
    assert judges.out_of_reach(page) == []


def test_what_scrolls_without_a_sign_is_seen(page):
    body = root(page, f'<pre style="overflow: auto">{LONG}</pre><p>short</p>')
    assert judges.unsigned(page, body) == ['scrolls without a sign: <pre class="">']
    page.add_style_tag(content="pre { mask-image: linear-gradient(to left, #0000, #000 2em) }")
    assert judges.unsigned(page, body) == []


LIGHT = '<path d="M20 45h0" stroke="#f0e442" stroke-width="60" stroke-linecap="round"/>'


def drawing(content, more=""):
    return (
        f'<article><div class="am-frame"><svg viewBox="0 0 200 100" width="200" {more}>{content}</svg></div></article>'
    )


@pytest.mark.parametrize(
    ("content", "more", "said"),
    [
        ('<text y="50" font-size="16">tiny</text>', 'style="width: 100px"', '"tiny" is 8.0 pixels high'),
        ('<text x="190" y="50">far</text>', "", '"far" is cut'),
        (f'{LIGHT}<text x="5" y="50" fill="#fff">lit</text>', "", '"lit" has a contrast of 1.3'),
        (f'<text x="5" y="50">below</text>{LIGHT}', "", '"below" has a contrast of 1.0'),
        ('<g opacity="0.3"><text x="5" y="50">faint</text></g>', "", '"faint" has a contrast of'),
        ('<text x="5" y="50" fill="#e69f00">◆</text>', "", '"◆" has a contrast of 2.3'),
    ],
)  # fmt: skip
def test_a_text_that_is_hard_to_read_in_a_drawing_is_seen(page, content, more, said):
    body = root(page, drawing(content, more))
    assert [fault[: len(said)] for fault in judges.hard_to_read(page, body)] == [said]


def test_texts_that_can_be_read_are_no_fault(page):
    line, bar = '<path d="M0 0L200 100" stroke="#999"/>', '<rect width="200" height="60" fill="#0072b2"/>'
    body = root(page, drawing(f'{line}{bar}<text x="20" y="50" fill="#fff">on blue</text>'))
    assert judges.hard_to_read(page, body) == []
    dark = "<style>article { background: #131416; color: #cfd0d0 }</style>"
    texts = '<text x="5" y="50">on the page</text><text y="80" fill="#d55e00">◆</text>'
    assert judges.hard_to_read(page, root(page, dark + drawing(texts, 'fill="currentColor"'))) == []
    faint = "<style>article p { color: #333 }</style><article><p>beside it</p></article>"
    assert judges.hard_to_read(page, root(page, dark + faint)) == ['"beside it" has a contrast of 1.5']


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


PICTURE = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='600' height='300'/>"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<p style="font-size: 27px">words', '"words" is 27.0 pixels high, 28 are wanted'),
        ('<pre style="font-size: 21px">code', '"code" is 21.0 pixels high, 22 are wanted'),
        ('<table style="font-size: 19px"><td>1.0', '"1.0" is 19.0 pixels high, 20 are wanted'),
        (
            '<svg viewBox="0 0 100 100" width="150" height="150"><text y="50" font-size="12">a</text></svg>',
            '"a" is 18.0 pixels high, 20 are wanted',
        ),
        (
            '<div style="zoom: 1.25"><p style="font-size: 20px">zoomed</p></div>',
            '"zoomed" is 25.0 pixels high, 28 are wanted',
        ),
        (
            f'<img src="{PICTURE}" height="300" data-letters="16" alt="a curve">',
            '"the letters of a curve" is 16.0 pixels high, 20 are wanted',
        ),
        (f'<img src="{PICTURE}" height="300" alt="a curve">', '"the letters of a curve" is 0.0 pixels high'),
    ],
)
def test_what_cannot_be_read_from_the_last_row_is_seen(page, body, said):
    (fault,) = judges.unreadable(page, root(page, body))
    assert fault.startswith(said)


def test_what_can_be_read_from_the_last_row_or_is_not_projected_is_no_fault(page):
    large = '<p style="font-size: 28px">words</p><pre style="font-size: 22px">code</pre>'
    picture = f'<img src="{PICTURE}" height="450" data-letters="16" alt="a curve">'
    assert judges.unreadable(page, root(page, f'{large}{picture}<aside class="notes">small</aside>')) == []
