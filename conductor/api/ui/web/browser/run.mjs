// Tries the web interface in Chromium, before a real conductor: `make ui-test`. SHOTS=DIR keeps pictures of the pages;
// ONLY=pages,machines,… runs some of the checks.
import { Browser } from './lib/browser.mjs'
import { Tally } from './lib/checks.mjs'
import { Conductor } from './lib/conductor.mjs'
import { scene } from './lib/scene.mjs'
import { docs } from './checks/docs.mjs'
import { hostiles } from './checks/hostile.mjs'
import { images } from './checks/images.mjs'
import { life } from './checks/life.mjs'
import { lost } from './checks/lost.mjs'
import { pages } from './checks/pages.mjs'
import { machines } from './checks/machines.mjs'
import { sessions } from './checks/session.mjs'

const parts = { pages, machines, life, images, sessions, hostiles, lost, docs }
const only = process.env.ONLY?.split(',') ?? Object.keys(parts)

const tally = new Tally()
const c = await new Conductor().start()
const browser = await new Browser().start()
try {
  const ids = await scene(c)
  for (const name of only) await parts[name]({ tally, browser, c, ids })
  await tally.check('the first page is small, and from the conductor alone', () => firstPage(c))
} finally {
  await browser.stop()
  await c.stop()
}
if (tally.failures.length > 0) {
  console.error(`ui: ${tally.failures.length} of ${tally.checks} checks failed`)
  process.exit(1)
}
console.log(`ui: ok ${tally.pages.size} pages, ${tally.checks} checks, first page ${Math.ceil(tally.figures.first / 1024)} KB`)

/** firstPage counts what a browser fetches for the first page, as it is sent. */
async function firstPage(c) {
  const page = await browser.page()
  const client = await page.context().newCDPSession(page)
  await client.send('Network.enable')
  let bytes = 0
  const from = new Map()
  const others = []
  client.on('Network.responseReceived', (e) => {
    from.set(e.requestId, e.response.url)
    if (!e.response.url.startsWith(c.url)) others.push(e.response.url)
  })
  client.on('Network.loadingFinished', (e) => {
    if (from.get(e.requestId)?.includes('/ui/')) bytes += e.encodedDataLength
  })
  await page.goto(`${c.url}/ui/`, { waitUntil: 'load' })
  await page.locator('main h1').waitFor()
  await page.waitForTimeout(300)
  await page.context().close()
  tally.figures.first = bytes
  if (others.length > 0) throw new Error(`the page asks others: ${others}`)
  if (bytes > 300 * 1024 || bytes < 10 * 1024) throw new Error(`the first page is ${bytes} bytes`)
}
