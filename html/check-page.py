#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check a page of perf fnstat in Chromium, with real clicks and keys. KTAP.

usage: check-page.py PAGE SCREENSHOT
"""
import json
import pathlib
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys


class Browser(webdriver.Chrome):
    """A Chromium with one page, and what it said and sent."""

    def __init__(self, url):
        options = webdriver.ChromeOptions()
        for option in ('headless=new', 'no-sandbox', 'disable-gpu', 'disable-dev-shm-usage',
                       'disable-background-networking', 'disable-component-update',
                       'no-first-run', 'hide-scrollbars'):
            options.add_argument('--' + option)
        options.ignore_local_proxy_environment_variables()
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
        super().__init__(service=Service('/usr/bin/chromedriver'), options=options)
        self.resize(1300, 960)
        # What it does by itself is no request of the page.
        self.get_log('performance')
        self.get(url)

    def resize(self, width, height):
        self.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})

    def run(self, expression):
        return self.execute_script('return ' + expression)

    def click(self, expression):
        element = self.run(expression)
        self.execute_script('arguments[0].scrollIntoView({block: "center"})', element)
        element.click()

    def key(self, *keys):
        self.switch_to.active_element.send_keys(*keys)

    def complaints(self):
        """List what is on the console since the last time."""
        return [entry['message'] for entry in self.get_log('browser')]

    def requests(self):
        events = [json.loads(entry['message'])['message'] for entry in self.get_log('performance')]
        return [event['params']['request']['url'] for event in events
                if event['method'] == 'Network.requestWillBeSent']


NUMBERS = '''(column => [...document.querySelectorAll("table.own")[0].tBodies[0].rows]
    .map(row => parseFloat(row.cells[column].dataset.v)).filter(v => v === v))'''
HEADER = 'document.querySelector("table.own thead th:nth-child(%d)")'
FRAMES = '[...document.querySelectorAll(".flame")[0].children]'


# What a finger or the keyboard has chosen: is it in sight, and the tip beside it?
IN_SIGHT = '''(() => {
    const cell = document.activeElement, at = cell.getBoundingClientRect();
    const tip = document.getElementById("tip"), other = tip.getBoundingClientRect();
    return cell.matches("td") && !tip.hidden && tip.textContent.includes(cell.title) &&
        (other.top >= at.bottom || other.bottom <= at.top) &&
        [[at.left + 2, at.top + 2], [at.right - 2, at.bottom - 2]].every(([x, y]) =>
            document.elementFromPoint(x, y) === cell);
})()'''


def check(page, screenshot, browser):
    """Check the page, return what is wrong with it."""
    nr, wrong = 0, []

    def result(ok, what):
        nonlocal nr
        nr += 1
        print('ok' if ok else 'not ok', nr, what)
        if not ok:
            wrong.append(what)

    data = page.read_text('ascii')
    table = data.split('<table class="own">', 1)[1].split('</table>', 1)[0]
    rows = table.split('<tbody>', 1)[1].split('</tbody>', 1)[0].count('<tr>')
    print('TAP version 13')
    result(browser.save_screenshot(str(screenshot)), 'a screenshot')
    result(rows > 0 and rows == browser.run(
        'document.querySelector("table.own").tBodies[0].rows.length'), f'{rows} rows')
    time_column = 1 + browser.run('[...document.querySelectorAll("table.own thead th")]'
                                  '.findIndex(th => th.ariaSort === "descending")')
    result(len(browser.run(NUMBERS + '(2)')) > 0, 'a column has numbers')

    browser.click(HEADER % 3 + '.firstChild')
    down = browser.run(NUMBERS + '(2)')
    result(down == sorted(down, reverse=True) and down != down[::-1], 'a click sorts')
    result(browser.run(HEADER % 3 + '.ariaSort') == 'descending' and
           browser.run('document.querySelectorAll("table.own")[0]'
                       '.querySelectorAll("[aria-sort]:not([aria-sort=none])").length') == 1,
           'aria-sort tells')
    browser.run(HEADER % 3 + '.firstChild.focus()')
    browser.key(Keys.ENTER)
    result(browser.run(NUMBERS + '(2)') == down[::-1] or
           browser.run(NUMBERS + '(2)') == sorted(down), 'a key sorts the other way')
    browser.click(HEADER % 1 + '.firstChild')
    names = browser.run('[...document.querySelector("table.own").tBodies[0].rows]'
                        '.map(row => row.cells[0].textContent)')
    result(names == sorted(names), 'names sort')

    # A telephone that lies on its side, with the table in the middle.
    browser.resize(390, 300)
    result(browser.run('document.documentElement.scrollWidth') == 390, 'the page is not too wide')
    browser.run('document.querySelector(".scroll").scrollIntoView({block: "center"})')
    browser.click('document.querySelector("table.own tbody td:not(.name)")')
    result(browser.run(IN_SIGHT), 'a click on a number tells')
    columns = browser.run('document.querySelectorAll("table.own thead th").length')
    hidden = 0
    for keys in [Keys.ARROW_DOWN] * rows, [Keys.ARROW_RIGHT] * columns, \
            [Keys.ARROW_UP] * rows, [Keys.ARROW_LEFT] * columns:
        for key in keys[:30]:
            browser.key(key)
            hidden += not browser.run(IN_SIGHT)
    result(not hidden, f'arrows lead to what is in sight, {hidden} times not')
    result(browser.run('(style => style.outlineStyle === "solid" && '
                       'style.outlineColor === style.color)'
                       '(getComputedStyle(document.activeElement))'),
           'the focus is as strong as text')
    result(browser.run('document.querySelector(".scroll").getBoundingClientRect().bottom >= '
                       'document.querySelector("tfoot th").getBoundingClientRect().bottom'),
           'the totals stay in sight')
    browser.execute_script('window.turned = '
                           'new Promise(done => addEventListener("wheel", () => done()))')
    webdriver.ActionChains(browser).scroll_by_amount(0, 20).perform()
    browser.execute_async_script('turned.then(arguments[0])')
    result(browser.run('document.getElementById("tip").hidden'), 'no tip stays where it was')
    browser.resize(1300, 960)

    # What one table is about is not there with the other, as the note on rows that it lacks.
    browser.run('document.querySelector("table.own").insertAdjacentHTML('
                '"afterend", "<p class=\\"note own\\">")')
    kinds = [('all', 'own'), ('own', 'all')] if browser.run('document.querySelector(".kind")') else []
    for kind, other in kinds:
        browser.click(f'document.querySelector(".kind [value={kind}]")')
        result(browser.run(f'[...document.querySelectorAll(".{kind}")].every(e => !e.hidden) && '
                           f'[...document.querySelectorAll(".{other}")].every(e => e.hidden)'),
               f'one table alone, {kind}')

    if not browser.run('document.querySelectorAll(".flame").length'):
        sys.exit('check-page.py: the page has no flame graph, which the report needs -g for')
    # The widest frame that is narrower than its parent's.
    frame = browser.run(FRAMES + '''.filter(f => parseFloat(f.style.width) < 60)
        .sort((a, b) => parseFloat(b.style.width) - parseFloat(a.style.width))[0].dataset.i''')
    find = f'document.querySelector(".flame [data-i=\\"{frame}\\"]")'
    before = browser.run(FRAMES + '.length')
    colours = browser.run('new Set(' + FRAMES +
                          '.map(f => getComputedStyle(f).backgroundColor)).size')
    result(before > 1 and colours > 2, f'{before} frames of {colours} colours')
    browser.click(find)
    result(browser.run(find + '.style.width') == '100%' and
           not browser.run('document.querySelector(".reset").disabled'), 'a click zooms')
    result(browser.run(find + ' === document.activeElement'), 'the frame has the focus')
    browser.key(Keys.ESCAPE)
    result(browser.run(FRAMES + '.length') == before and
           browser.run('document.querySelector(".reset").disabled'), 'Escape zooms out')

    # The function with the most time of its own, if its name can be typed.
    browser.run(HEADER % time_column + '.firstChild.click()')
    name = browser.run('[...document.querySelector("table.own").tBodies[0].rows]'
                       '.map(row => row.cells[0].textContent)'
                       '.find(name => !/[\\ufffd\\ud800-\\udfff]/.test(name))')
    if name is None:
        sys.exit('check-page.py: no name of a function can be typed')
    browser.click('document.querySelector("input")')
    browser.key(name)
    shown = browser.run('[...document.querySelector("table.own").tBodies[0].rows]'
                        '.filter(row => row.offsetHeight).map(row => row.cells[0].textContent)')
    hits = browser.run(FRAMES + '.filter(f => f.matches(".hit")).map(f => f.ariaLabel)')
    result(name in shown and len(shown) < rows and hits and
           all(name.lower() in text.lower() for text in shown + hits),
           f'find shows {len(shown)} rows and {len(hits)} frames')
    browser.key(Keys.CONTROL, 'a')
    browser.key(Keys.DELETE)
    result(browser.run('[...document.querySelector("table.own").tBodies[0].rows]'
                       '.every(row => row.offsetHeight)'), 'without a word, all')

    requests, complaints = browser.requests(), browser.complaints()
    for said in requests + complaints:
        print('#', said)
    result(requests == [page.as_uri()], 'no request but of the page')
    result(not complaints, 'nothing on the console')
    # That it would be there.
    browser.execute_async_script(
        'fetch("https://example.invalid/").catch(() => 0).then(arguments[0])')
    result(any('example.invalid' in said for said in browser.complaints()),
           'a request is refused, and seen')

    # Text on the strongest and on the weakest colour, and of an empty field, in both schemes.
    for scheme in 'light', 'dark':
        browser.execute_cdp_cmd('Emulation.setEmulatedMedia', {
            'features': [{'name': 'prefers-color-scheme', 'value': scheme}]})
        contrast = browser.run('''(() => {
            const cell = document.createElement("td"), ratios = [];
            const canvas = document.createElement("canvas").getContext("2d");
            document.querySelector("tbody tr").append(cell);
            cell.className = "heat";
            const light = colour => {
                canvas.fillStyle = colour;
                canvas.fillRect(0, 0, 1, 1);
                const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(v => {
                    v /= 255;
                    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
            };
            const add = (...colours) => {
                const pair = colours.map(light).sort((a, b) => a - b);
                ratios.push(pair[1] / pair[0]);
            };
            for (let t = 0; t <= 1; t += 0.1) {
                cell.style.setProperty("--t", t);
                add(getComputedStyle(cell).color, getComputedStyle(cell).backgroundColor);
            }
            cell.remove();
            const input = document.querySelector("input");
            add(getComputedStyle(input, "::placeholder").color,
                getComputedStyle(input).backgroundColor);
            return Math.min(...ratios);
        })()''')
        result(contrast >= 4.5,
               f'text on colours and in a field, {scheme}: contrast at least {contrast:.1f}')
        if scheme == 'dark':
            result(browser.save_screenshot(str(screenshot.with_name('dark.png'))), 'one in the dark')
    print(f'1..{nr}')
    return wrong


if len(sys.argv) != 3:
    sys.exit(__doc__)
html = pathlib.Path(sys.argv[1]).resolve()
with Browser(html.as_uri()) as chromium:
    sys.exit(bool(check(html, pathlib.Path(sys.argv[2]), chromium)))
