// Texts that would run, break out or hide, in every field that a machine or an operator fills.
import { strict as assert } from 'node:assert'
import { quiet, settled } from '../lib/checks.mjs'
import { Conductor } from '../lib/conductor.mjs'
import { failed, hostile, inspected } from '../lib/scene.mjs'
import { list } from './pages.mjs'

export async function hostiles({ tally, browser }) {
  const c = await new Conductor().start()
  try {
    const text = hostile.script
    const more = { description: text, resource_class: text.slice(0, 70), owner: text, extra: { [text]: text }, properties: { vendor: text, product_name: text } }
    const uuid = await inspected(c, undefined, 7, more, text)
    await c.call('PUT', `/v1/nodes/${uuid}/maintenance`, { reason: text })
    const broken = await failed(c, 'broken-1', { lessee: text })
    const ids = { inspected: uuid, waiting: uuid, failed: broken, active: uuid }
    const page = await browser.page()
    await page.goto(`${c.url}/ui/`)
    const title = await page.title()
    for (const { name, path } of list) {
      await tally.check(`hostile texts on ${name}`, async () => {
        page.wrong.length = 0
        await page.goto(c.url + path(ids))
        await settled(page)
        quiet(page)
        assert.ok(!/run|1/.test((await page.title()).replace(/[0-9a-f]{8}-[0-9a-f-]+|broken-1/, '')), `a script has run: ${await page.title()} (was ${title})`)
        assert.equal(await page.locator('main img, main script').count(), 0)
        assert.ok(!(await page.evaluate(() => document.body.innerText.includes('\u202e'))), 'a text turns the page around')
      })
    }
    await page.context().close()
  } finally {
    await c.stop()
  }
}
