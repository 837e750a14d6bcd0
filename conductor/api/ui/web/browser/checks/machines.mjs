// The page of all machines: live, its filter, its keys, several machines at once.
import { strict as assert } from 'node:assert'
import { quiet, settled, shot } from '../lib/checks.mjs'

export async function machines({ tally, browser, c, ids }) {
  const page = await browser.page()
  await page.goto(`${c.url}/ui/?view=list`)
  await settled(page)

  await tally.check('an event is on the screen within a second', async () => {
    const row = page.getByRole('row', { name: /new-1 / })
    await row.waitFor()
    const began = Date.now()
    await c.call('PUT', '/v1/nodes/new-1/maintenance', { reason: 'a look at its fans' })
    await row.getByText('a look at its fans').or(row.getByText('in maintenance')).waitFor()
    tally.figures.event = Date.now() - began
    assert.ok(tally.figures.event < 1000, `${tally.figures.event} ms`)
    await c.call('DELETE', '/v1/nodes/new-1/maintenance')
  })

  await tally.check('a filter makes a link', async () => {
    await page.getByRole('searchbox', { name: 'Filter' }).fill('state:available class:gpu')
    await page.getByText('3 of').waitFor()
    const other = await browser.page()
    await other.goto(page.url())
    await settled(other)
    assert.equal(await other.getByRole('searchbox', { name: 'Filter' }).inputValue(), 'state:available class:gpu')
    assert.equal(await other.locator('tbody tr:not(.space)').count(), 3)
    await other.context().close()
  })

  await tally.check('several machines are asked, after a plan was shown', async () => {
    await page.getByRole('searchbox', { name: 'Filter' }).fill('name:new-')
    await page.getByText('4 of').waitFor()
    await page.getByRole('button', { name: /Choose all 4/ }).click()
    await page.getByRole('searchbox', { name: 'Filter' }).fill('name:spare-9')
    await page.getByText('1 of').waitFor()
    await page.getByRole('checkbox', { name: 'Choose spare-9' }).check()
    await page.getByText('5 machines chosen').waitFor()
    await page.getByRole('combobox', { name: 'Actions for them' }).selectOption('Inspect')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('4 machines', { exact: true }).waitFor()
    await dialog.getByText('will not be asked: not in the state available').waitFor()
    await shot(page, 'machines-plan')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('combobox', { name: 'Actions for them' }).selectOption('Provide')
    const send = dialog.getByRole('button', { name: 'Provide 4 machines' })
    assert.ok(await send.isDisabled(), 'it can be sent before the count is typed')
    await dialog.getByLabel(/Type 4/).fill('4')
    await send.click()
    await dialog.getByText('All accepted the request').waitFor()
    for (const i of [1, 2, 3, 4]) await c.until(`new-${i}`, i === 0 ? '' : await stateAfter(c, `new-${i}`))
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
  })

  await tally.check('tiles are grouped, and their size is chosen by keys', async () => {
    await page.goto(`${c.url}/ui/?group=class`)
    await settled(page)
    await page.getByRole('rowheader', { name: /^gpu 3/ }).waitFor()
    await page.getByRole('slider', { name: 'Size of the tiles' }).focus()
    await page.keyboard.press('Home')
    await page.locator('.grid.size-0').waitFor()
    assert.match(page.url(), /group=class&size=0/)
    assert.equal(await page.getByRole('gridcell').count(), (await c.call('GET', '/v1/nodes')).nodes.length)
  })

  await tally.check('the grid goes by keys alone', async () => {
    await page.goto(`${c.url}/ui/`)
    await settled(page)
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press('Tab')
      if (await page.evaluate(() => document.activeElement?.classList.contains('tile'))) break
    }
    const name = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    const first = await name()
    await page.keyboard.press('ArrowRight')
    await page.waitForFunction((before) => document.activeElement?.getAttribute('aria-label') !== before, first)
    await page.keyboard.press('Space')
    await page.getByText('1 machine chosen').waitFor()
    const second = (await name()).split(' ')[0]
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: second }).waitFor()
  })

  await tally.check('a machine is shut down by keys alone, after its name was typed', async () => {
    await page.goto(`${c.url}/ui/machines/${ids.active}`)
    await settled(page)
    await focus(page, 'Power off')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await shot(page, 'machine-power-off')
    for (let i = 0; i < 10 && !(await page.evaluate(() => document.activeElement?.tagName === 'INPUT')); i++) await page.keyboard.press('Tab')
    await page.keyboard.type('web-5')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    for (let i = 0; i < 100 && (await c.call('GET', `/v1/nodes/${ids.active}`)).power_state !== 'power off'; i++) await page.waitForTimeout(50)
    assert.equal((await c.call('GET', `/v1/nodes/${ids.active}`)).power_state, 'power off')
    await page.locator('.heading').getByText('off', { exact: true }).waitFor()
  })

  await tally.check('scripts of the page of all machines failed nowhere', () => quiet(page))
  await page.context().close()
}

/** stateAfter is available; the machines of new- have the driver's own deploy interface. */
async function stateAfter(c, name) {
  const n = await c.call('GET', `/v1/nodes/${name}`)
  return ['clean wait', 'available'].includes(n.provision_state) ? n.provision_state : 'available'
}

/** focus goes by the Tab key to a button. */
export async function focus(page, name) {
  for (let i = 0; i < 120; i++) {
    await page.keyboard.press('Tab')
    if ((await page.evaluate(() => document.activeElement?.textContent)) === name) return
  }
  throw new Error(`no Tab leads to ${name}`)
}
