// A conductor that ends under an open page, and comes back.
import { strict as assert } from 'node:assert'
import { settled, shot } from '../lib/checks.mjs'
import { Conductor } from '../lib/conductor.mjs'
import { available } from '../lib/scene.mjs'

export async function lost({ tally, browser }) {
  const c = await new Conductor().start()
  try {
    await available(c, 'web-1')
    const page = await browser.page()
    await page.goto(`${c.url}/ui/?view=list`)
    await settled(page)
    await page.getByText('live', { exact: true }).waitFor()
    await tally.check('a lost stream is shown, and goes on after a restart', async () => {
      await c.kill()
      await page.getByText(/Connection to the event stream lost/).waitFor()
      await shot(page, 'machines-lost')
      await c.start()
      await page.getByText('live', { exact: true }).waitFor()
      await page.getByText(/Connection to the event stream lost/).waitFor({ state: 'detached' })
      await c.call('PUT', '/v1/nodes/web-1/maintenance', { reason: 'after the restart' })
      await page.getByText(/in maintenance/).waitFor()
      assert.equal(await page.locator('.notice-error').count(), 0)
    })
    await tally.check('machines that came and went meanwhile are right', async () => {
      await page.evaluate(() => Object.defineProperty(document, 'hidden', { value: true, configurable: true }))
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
      await available(c, 'web-2')
      const gone = await available(c, 'web-3')
      await c.call('DELETE', `/v1/nodes/${gone}`)
      await page.evaluate(() => Object.defineProperty(document, 'hidden', { value: false, configurable: true }))
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
      await page.getByRole('link', { name: 'web-2' }).waitFor()
      assert.equal(await page.getByRole('link', { name: 'web-3' }).count(), 0)
    })
    await page.context().close()
  } finally {
    await c.stop()
  }
}
