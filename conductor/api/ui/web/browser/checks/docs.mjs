// The documentation at /ui/docs/: menu, search, themes and width, with the policy of the interface.
import { strict as assert } from 'node:assert'
import { accessible, fits, quiet } from '../lib/checks.mjs'

export async function docs({ tally, browser, c }) {
  await tally.check('the documentation has a menu and a search, and is dark in the dark', async () => {
    const page = await browser.page({ dark: true })
    const others = []
    page.on('request', (r) => { if (!r.url().startsWith(`${c.url}/ui/docs/`)) others.push(r.url()) })
    await page.goto(`${c.url}/ui/docs/operate/deploy.html`)
    await page.locator('nav [aria-current=page]').getByText('Deploy a machine').waitFor()
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    assert.equal(await back(), 'rgb(20, 23, 26)')
    await page.locator('#theme').click()
    assert.equal(await back(), 'rgb(255, 255, 255)')
    await page.locator('#search').fill('rescue')
    await page.locator('#found a').first().click()
    await page.waitForURL('**/operate/rescue.html')
    await page.locator('h1').getByText('Rescue a machine').waitFor()
    await accessible(page)
    await page.setViewportSize({ width: 400, height: 800 })
    await page.goto(`${c.url}/ui/docs/openapi.html`)
    await fits(page)
    assert.deepEqual(others, [])
    quiet(page)
    await page.context().close()
  })
}
