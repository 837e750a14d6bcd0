// Two ways to use a page: by mouse, and by keys alone. Both find what they use by what a user reads.
import { strict as assert } from 'node:assert'

/** most is how many stops the Tab key makes before something counts as out of reach. */
const most = 250

export class Mouse {
  constructor(page) {
    this.page = page
  }

  async press(locator) {
    await locator.click()
  }

  async type(locator, text) {
    await locator.click()
    await this.page.keyboard.press('Control+A')
    await this.page.keyboard.insertText(text)
  }

  /** choose takes an option of a list, which the system draws outside of the page. */
  async choose(locator, option) {
    await locator.selectOption(option)
  }

  async done() {}
}

/** Keys uses Tab, Shift+Tab, Enter, Space and letters. Each stop of the focus must be visible. */
export class Keys {
  stops = 0

  constructor(page) {
    this.page = page
  }

  /** watch notes each event of a pointer. It is called before the first page is opened. */
  async watch() {
    await this.page.addInitScript(() => {
      window.pointers = []
      for (const type of ['pointerdown', 'mousedown', 'touchstart', 'wheel'])
        addEventListener(type, (e) => window.pointers.push(`${e.type} on ${e.target.nodeName}`), true)
      addEventListener('click', (e) => e.detail > 0 && window.pointers.push('a click of a pointer'), true)
    })
    return this
  }

  async reach(locator) {
    const target = await locator.elementHandle()
    let before = ''
    for (let i = 0; i < most; i++) {
      const stop = await this.page.evaluate(look, target)
      if (stop.there) {
        assert.ok(stop.seen, `the focus on ${stop.what} cannot be seen: ${stop.why}`)
        return
      }
      if (i > 0 && stop.what !== 'BODY') assert.ok(stop.seen, `the focus on ${stop.what} cannot be seen: ${stop.why}`)
      before = stop.what
      await this.page.keyboard.press(stop.terminal ? 'F6' : 'Tab')
      this.stops++
    }
    assert.fail(`Tab does not lead to ${locator}; it was at ${before}`)
  }

  async press(locator) {
    await locator.waitFor()
    await this.reach(locator)
    const box = await locator.evaluate((e) => e.matches('input[type=checkbox], input[type=radio]'))
    await this.page.keyboard.press(box ? 'Space' : 'Enter')
  }

  async type(locator, text) {
    await locator.waitFor()
    await this.reach(locator)
    await this.page.keyboard.press('Control+A')
    await this.page.keyboard.insertText(text)
  }

  /** choose types the beginning of an option, as lists take it. */
  async choose(locator, option) {
    await locator.waitFor()
    await this.reach(locator)
    await this.page.keyboard.type(option)
    assert.equal(await locator.inputValue(), option)
  }

  async done() {
    assert.deepEqual(await this.page.evaluate(() => window.pointers), [], 'a pointer was used')
  }
}

/** look is where the focus is, and whether somebody sees it. It runs in the page. */
function look(target) {
  const at = document.activeElement ?? document.body
  const there = at === target
  const style = getComputedStyle(at)
  const box = at.getBoundingClientRect()
  const words = (at.getAttribute('aria-label') ?? at.textContent ?? '').trim().slice(0, 40)
  const ring = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1) || style.boxShadow !== 'none'
  const inside = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
  const terminal = at.classList.contains('xterm-helper-textarea') // it has the cursor of the terminal instead
  return {
    there, terminal, what: at === document.body ? 'BODY' : `${at.nodeName} “${words}”`, seen: terminal || (ring && inside),
    why: ring ? `it is at ${Math.round(box.left)},${Math.round(box.top)}` : 'it has no outline',
  }
}
