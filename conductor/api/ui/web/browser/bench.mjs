// Measures the web interface with many machines: `make ui-bench`. NODES=100000 takes more of them.
import { Browser } from './lib/browser.mjs'
import { Conductor } from './lib/conductor.mjs'

const count = Number(process.env.NODES ?? 10_000)
const tries = 7

const c = await new Conductor().start()
const browser = await new Browser().start()
try {
  await fill(c, count)
  const lines = []
  const figure = (name, values, unit = 'ms') => {
    const sorted = [...values].sort((a, b) => a - b)
    lines.push(`${name}: median ${Math.round(sorted[Math.floor(sorted.length / 2)])} ${unit}, most ${Math.round(sorted.at(-1))} ${unit}`)
  }
  const first = []
  const whole = []
  for (let i = 0; i < 5; i++) {
    const page = await browser.page()
    const began = Date.now()
    await page.goto(`${c.url}/ui/?view=list`, { waitUntil: 'commit' })
    await page.locator('tbody tr:not(.space)').first().waitFor()
    first.push(Date.now() - began)
    await page.waitForFunction(() => !document.querySelector('.heading p')?.textContent.includes('reading'), undefined, { timeout: 300_000, polling: 20 })
    whole.push(Date.now() - began)
    await page.context().close()
  }
  figure('first rows', first)
  figure('all rows read', whole)

  const page = await browser.page()
  await page.goto(`${c.url}/ui/?view=list`)
  await page.waitForFunction(() => document.querySelector('.heading p') && !document.querySelector('.heading p').textContent.includes('reading'), undefined, { timeout: 300_000 })
  await page.waitForTimeout(500)
  const filters = []
  for (let i = 0; i < tries; i++) filters.push(await filter(page, `node-${i + 1}2`))
  figure('filter, from the key to the rows', filters)
  await filter(page, '')

  const events = []
  for (let i = 0; i < tries; i++) events.push(await event(page, c, i))
  figure('an event on the screen', events)

  // the same with another change every 20 ms elsewhere
  let going = true
  const noise = (async () => {
    for (let i = 0; going; i++) {
      await c.call('PATCH', `/v1/nodes/node-${500 + (i % 400)}`, [{ op: 'add', path: '/extra/i', value: i }])
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  const busy = []
  for (let i = 0; i < tries; i++) busy.push(await event(page, c, 100 + i))
  going = false
  await noise
  figure('an event on the screen, among some 40 others a second', busy)
  await page.goto(`${c.url}/ui/`)
  await page.waitForFunction(() => document.querySelectorAll('.tile').length > 100, undefined, { timeout: 60_000 })
  await page.waitForFunction(() => !document.querySelector('.heading p')?.textContent.includes('reading'), undefined, { timeout: 300_000 })
  const client = await page.context().newCDPSession(page)
  await client.send('HeapProfiler.collectGarbage')
  const { usedSize } = await client.send('Runtime.getHeapUsage')
  lines.push(`memory of the page's scripts with all machines: ${Math.round(usedSize / 1e6)} MB`)
  await page.context().close()
  await large(browser, c, figure)
  console.log(`ui-bench: ${count} nodes`)
  for (const line of lines) console.log(`  ${line}`)
} finally {
  await browser.stop()
  await c.stop()
}

/** filter types a filter as one change, and measures in the page until its rows are drawn. */
function filter(page, text) {
  return page.evaluate(async (value) => {
    const input = document.querySelector('#filter')
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
    const shown = () => document.querySelector('.heading p').textContent + (document.querySelector('tbody tr:not(.space) .col-name')?.textContent ?? '')
    const before = shown()
    const began = performance.now()
    set.call(input, value)
    input.dispatchEvent(new Event('input', { bubbles: true }))
    while (shown() === before && performance.now() - began < 5000) await new Promise((resolve) => requestAnimationFrame(resolve))
    await new Promise((resolve) => requestAnimationFrame(resolve))
    return performance.now() - began
  }, text)
}

/** event changes a machine that is seen, and measures until the page shows it. */
async function event(page, c, i) {
  const text = `seen-${i}`
  const seen = page.evaluate(
    (want) => new Promise((resolve) => {
      const look = () => (document.body.innerText.includes(want) ? resolve(Date.now()) : requestAnimationFrame(look))
      look()
    }),
    text,
  )
  const began = Date.now()
  await c.call('PATCH', '/v1/nodes/node-1', [{ op: 'add', path: '/resource_class', value: text }])
  return (await seen) - began
}

/** large has the page read 100,000 machines, in the API's pages, which this script answers in the conductor's place. */
async function large(browser, c, figure) {
  const all = 100_000
  const page = await browser.page()
  const node = (i) => ({
    uuid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`, name: `node-${i}`, provision_state: ['active', 'available', 'deploy failed', 'wait call-back'][i % 4],
    target_provision_state: null, power_state: i % 2 ? 'power on' : 'power off', maintenance: false, maintenance_reason: null, fault: null, last_error: null,
    resource_class: 'compute', driver: 'redfish', conductor_group: '', provision_updated_at: '2026-01-01T00:00:00+00:00', owner: null, health: 'OK', retired: false,
  })
  await page.route('**/v1/nodes?*', (route) => {
    const query = new URL(route.request().url()).searchParams
    const from = Number(query.get('marker') ?? 0)
    const to = Math.min(all, from + Number(query.get('limit') ?? 1000))
    const body = { nodes: Array.from({ length: to - from }, (_, i) => node(from + i + 1)) }
    if (to < all) body.next = `${c.url}/v1/nodes?marker=${to}`
    return route.fulfill({ json: body })
  })
  const began = Date.now()
  await page.goto(`${c.url}/ui/?view=list`, { waitUntil: 'commit' })
  await page.locator('tbody tr:not(.space)').first().waitFor()
  figure('100,000 machines: first rows', [Date.now() - began])
  await page.waitForFunction(() => !document.querySelector('.heading p')?.textContent.includes('reading'), undefined, { timeout: 300_000, polling: 100 })
  figure('100,000 machines: all rows read', [Date.now() - began])
  await page.waitForTimeout(500)
  const filters = []
  for (let i = 0; i < tries; i++) filters.push(await filter(page, `node-${i + 1}234`))
  figure('100,000 machines: filter, from the key to the rows', filters)
  const rows = await page.locator('tbody tr').count()
  if (rows > 200) throw new Error(`the page has ${rows} rows at once`)
  const client = await page.context().newCDPSession(page)
  await client.send('HeapProfiler.collectGarbage')
  figure('100,000 machines: memory of the page', [(await client.send('Runtime.getHeapUsage')).usedSize / 1e6], 'MB')
  await page.context().close()
}

/** fill makes machines, several at a time. */
async function fill(c, many) {
  let next = 1
  const worker = async () => {
    while (next <= many) {
      const i = next++
      await c.call('POST', '/v1/nodes', { name: `node-${i}`, driver: 'fake-hardware', resource_class: ['compute', 'gpu', 'storage'][i % 3] })
      if (i % 10 === 0 && i <= 5000) await c.verb(`node-${i}`, 'manage')
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}
