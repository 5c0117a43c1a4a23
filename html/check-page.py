#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check a page of perf fnstat in Chromium, with real clicks and keys. KTAP.

usage: check-page.py PAGE SCREENSHOT

Chromium is told what to do over a pair of pipes (--remote-debugging-pipe).
"""
import base64
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

TIMEOUT = 60


class Browser:
    """A Chromium with one page."""

    def __init__(self, profile):
        command_in, self.out = os.pipe()
        self.input, result_out = os.pipe()

        def connect():
            # It reads from 3 and writes to 4; neither end may be one of these before.
            ends = os.dup(command_in), os.dup(result_out)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        with open(f'{profile}/log', 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                ['chromium', '--headless=new', '--no-sandbox', '--disable-gpu',
                 '--disable-background-networking', '--disable-component-update',
                 '--no-first-run', '--hide-scrollbars', f'--user-data-dir={profile}',
                 '--window-size=1400,1000', '--remote-debugging-pipe', 'about:blank'],
                preexec_fn=connect, close_fds=False, stdout=log, stderr=log)
        os.close(command_in)
        os.close(result_out)
        self.buffer, self.id, self.events = b'', 0, []
        target = next(t for t in self.call('Target.getTargets')['targetInfos']
                      if t['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=target['targetId'],
                                 flatten=True)['sessionId']
        for domain in 'Page', 'Runtime', 'Log', 'Network':
            self.call(domain + '.enable')
        self.call('Emulation.setDeviceMetricsOverride', width=1300, height=960,
                  deviceScaleFactor=1, mobile=False)

    session = None

    def message(self):
        deadline = time.monotonic() + TIMEOUT
        while b'\0' not in self.buffer:
            if not select.select([self.input], [], [], deadline - time.monotonic())[0]:
                sys.exit('check-page.py: Chromium does not answer')
            data = os.read(self.input, 1 << 20)
            if not data:
                sys.exit('check-page.py: Chromium ended')
            self.buffer += data
        message, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, **params):
        self.id += 1
        request = {'id': self.id, 'method': method, 'params': params}
        if self.session:
            request['sessionId'] = self.session
        os.write(self.out, json.dumps(request).encode() + b'\0')
        while True:
            message = self.message()
            if message.get('id') != self.id:
                self.events.append(message)
            elif 'error' in message:
                sys.exit(f"check-page.py: {method}: {message['error']}")
            else:
                return message['result']

    def load(self, url):
        self.call('Page.navigate', url=url)
        while not any(event['method'] == 'Page.loadEventFired' for event in self.events):
            self.events.append(self.message())

    def run(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True)
        if 'exceptionDetails' in result:
            sys.exit(f"check-page.py: {expression}: {result['exceptionDetails']}")
        return result['result'].get('value')

    def click(self, expression):
        x, y = self.run(f'''(() => {{
            const element = {expression};
            element.scrollIntoView({{block: "center"}});
            const box = element.getBoundingClientRect();
            return [box.x + Math.min(box.width / 2, 50), box.y + box.height / 2];
        }})()''')
        for kind in 'mouseMoved', 'mousePressed', 'mouseReleased':
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, clickCount=1,
                      button='none' if kind == 'mouseMoved' else 'left')

    def key(self, key, text=''):
        for kind in 'keyDown', 'keyUp':
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key,
                      windowsVirtualKeyCode=13 if key == 'Enter' else 27,
                      **({'text': text} if kind == 'keyDown' and text else {}))

    def screenshot(self, file):
        shot = self.call('Page.captureScreenshot', format='png')
        pathlib.Path(file).write_bytes(base64.b64decode(shot['data']))

    def complaints(self):
        """List errors of the console, and requests other than of the page."""
        found = []
        for event in self.events:
            method, params = event['method'], event.get('params', {})
            if method in ('Runtime.exceptionThrown', 'Log.entryAdded') or \
               method == 'Runtime.consoleAPICalled':
                found.append(json.dumps(params))
        return found

    def requests(self):
        return [event['params']['request']['url'] for event in self.events
                if event['method'] == 'Network.requestWillBeSent']


NUMBERS = '''(column => [...document.querySelectorAll("table.own")[0].tBodies[0].rows]
    .map(row => parseFloat(row.cells[column].dataset.v)).filter(v => v === v))'''
HEADER = 'document.querySelector("table.own thead th:nth-child(%d)")'
FRAMES = '[...document.querySelectorAll(".flame")[0].children]'


def check(page, screenshot, profile):
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
    rows = table.split('<tbody>', 1)[1].count('<tr>')
    url = page.resolve().as_uri()
    browser = Browser(profile)
    print('TAP version 13')
    browser.load(url)
    browser.screenshot(screenshot)
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
    browser.key('Enter', '\r')
    result(browser.run(NUMBERS + '(2)') == down[::-1] or
           browser.run(NUMBERS + '(2)') == sorted(down), 'a key sorts the other way')
    browser.click(HEADER % 1 + '.firstChild')
    names = browser.run('[...document.querySelector("table.own").tBodies[0].rows]'
                        '.map(row => row.cells[0].textContent)')
    result(names == sorted(names), 'names sort')

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
    browser.key('Escape')
    result(browser.run(FRAMES + '.length') == before and
           browser.run('document.querySelector(".reset").disabled'), 'Escape zooms out')

    # The function with the most time of its own.
    browser.run(HEADER % time_column + '.firstChild.click()')
    name = browser.run('document.querySelector("table.own").tBodies[0].rows[0]'
                       '.cells[0].textContent')
    browser.click('document.querySelector("input")')
    browser.call('Input.insertText', text=name)
    shown = browser.run('[...document.querySelector("table.own").tBodies[0].rows]'
                        '.filter(row => row.offsetHeight).map(row => row.cells[0].textContent)')
    hits = browser.run(FRAMES + '.filter(f => f.matches(".hit")).map(f => f.ariaLabel)')
    result(name in shown and len(shown) < rows and hits and
           all(name.lower() in text.lower() for text in shown + hits),
           f'find shows {len(shown)} rows and {len(hits)} frames')
    browser.call('Input.dispatchKeyEvent', type='keyDown', commands=['selectAll'])
    browser.call('Input.dispatchKeyEvent', type='keyDown', key='Delete',
                 windowsVirtualKeyCode=46)
    result(browser.run('[...document.querySelector("table.own").tBodies[0].rows]'
                       '.every(row => row.offsetHeight)'), 'without a word, all')

    result(browser.requests() == [url], 'no request but of the page')
    for request in browser.requests():
        print('#', request)
    for complaint in browser.complaints():
        print('#', complaint)
    result(not browser.complaints(), 'nothing on the console')

    # That these two can fail.
    browser.run('fetch("https://example.invalid/").catch(() => 0); 0')
    time.sleep(0.5)
    browser.run('console.error("x"); 0')
    result(browser.complaints(), 'a request is refused, and seen')

    # Text on the strongest and on the weakest colour, in light and in dark.
    for scheme in 'light', 'dark':
        browser.call('Emulation.setEmulatedMedia',
                     features=[{'name': 'prefers-color-scheme', 'value': scheme}])
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
            for (let t = 0; t <= 1; t += 0.1) {
                cell.style.setProperty("--t", t);
                const style = getComputedStyle(cell);
                const pair = [light(style.color), light(style.backgroundColor)].sort();
                ratios.push(pair[1] / pair[0]);
            }
            cell.remove();
            return Math.min(...ratios);
        })()''')
        result(contrast >= 4.5, f'text on colours, {scheme}: contrast at least {contrast:.1f}')
        if scheme == 'dark':
            browser.screenshot(screenshot.with_name('dark.png'))
    browser.call('Browser.close')
    browser.process.wait(TIMEOUT)
    print(f'1..{nr}')
    return wrong


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        sys.exit(bool(check(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), profile)))


main()
