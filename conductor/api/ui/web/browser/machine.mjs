// A new user, a browser and a QEMU machine: `make ui-machine` brings up the lab and runs this. The standard input says
// where everything is (lab/e2e/browser). SHOTS=DIR keeps pictures.
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { Browser } from './lib/browser.mjs'
import { accessible, fits, quiet, shot } from './lib/checks.mjs'
import { Keys, Mouse } from './lib/hands.mjs'

const m = JSON.parse(readFileSync(0, 'utf8'))
const boot = 900_000 // a boot of a machine that is emulated, beside a lot of other work
const browser = await new Browser().start()
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => browser.stop().finally(() => process.exit(1)))
let page
try {
  page = await browser.page({ dark: m.hands === 'keyboard' })
  await walk(page, m.hands === 'mouse' ? new Mouse(page) : await new Keys(page).watch())
} catch (err) {
  console.error(`FAILED ${err.stack ?? err}`)
  if (page) {
    await shot(page, `machine-${m.hands}-failed`)
    console.error(await page.locator('body').innerText().catch(() => ''))
  }
  process.exitCode = 1
} finally {
  await browser.stop()
}

async function walk(page, hands) {
  const began = Date.now()
  const say = (text) => console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${m.hands}: ${text}`)
  const main = page.getByRole('main')
  const state = (text, timeout = 60_000) => page.locator('.heading').getByText(text, { exact: true }).waitFor({ timeout })
  const link = (name) => page.getByRole('link', { name, exact: true })
  const button = (name, within = page) => within.getByRole('button', { name, exact: true })
  const picture = async (name) => {
    await fits(page)
    await accessible(page)
    await shot(page, `qemu-${name}${m.hands === 'mouse' ? '' : '-keyboard'}`)
  }
  const verb = async (label, fill = async () => {}) => {
    await hands.press(button(label, main))
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await fill(dialog)
    const name = dialog.getByLabel(/^Type /)
    if ((await name.count()) > 0) await hands.type(name, m.name)
    await hands.press(button(label, dialog))
    await dialog.waitFor({ state: 'detached' })
  }
  const wrong = m.sha256.replace(/.$/, (last) => (last === '0' ? '1' : '0'))

  await page.goto(`${m.url}/ui/`)
  await page.getByText('No machine is known yet').waitFor()
  await hands.press(main.getByRole('link', { name: 'Enroll a machine' }).first())
  await page.getByRole('heading', { level: 1, name: 'Enroll a machine' }).waitFor()
  await hands.type(page.getByLabel('Name', { exact: true }), m.name)
  await hands.type(page.getByLabel(/^Address of the BMC/), m.bmc)
  await hands.type(page.getByLabel(/^User of the BMC/), m.user)
  await hands.type(page.getByLabel(/^Password of the BMC/), m.password)
  await hands.type(page.getByLabel(/^MAC address it boots from/), m.mac)
  await hands.choose(page.getByLabel(/^Inspection/), 'agent')
  await hands.press(button('Test the connection', main))
  await page.getByText(/The BMC answers, and accepts the login: power off/).waitFor()
  await picture('enroll')
  await hands.press(button('Enroll', main))
  await page.getByRole('heading', { level: 1, name: m.name }).waitFor()
  await state('manageable')
  say('enrolled and manageable')

  await verb('Inspect')
  await state('inspect wait')
  await state('manageable', boot)
  say('inspected')
  await hands.press(link('Disks'))
  await page.getByText('/dev/').first().waitFor()
  await picture('disks')

  await verb('Provide')
  await state('available', boot)
  say('available')

  // A URL that is not there is refused before anything is changed; a wrong checksum is found when all is written.
  await verb('Deploy', async (dialog) => {
    await hands.type(dialog.getByLabel(/^Image: its name/), m.missing)
    await hands.type(dialog.getByLabel(/^Checksum/), wrong)
    await hands.type(dialog.getByLabel(/^Type /), m.name)
    await hands.press(button('Deploy', dialog))
    await dialog.getByText(/404 Not Found; correct the URL/).waitFor()
    await picture('refused')
    await hands.type(dialog.getByLabel(/^Image: its name/), m.image)
  })
  await hands.press(link('Now'))
  const left = page.locator('.progress span').getByText(/\/s, .* left/)
  await left.waitFor({ timeout: boot })
  say(`progress: ${await left.innerText()}`)
  await picture('progress')
  await hands.press(link('Log'))
  await page.getByRole('log').getByText(/write_image/).first().waitFor()
  await picture('log')
  await state('deploy failed', boot)
  say('the deploy failed')
  await hands.press(page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link', { name: 'Machines', exact: true }))
  await hands.press(page.getByRole('link', { name: /^Needs attention/ }))
  await page.getByText(/checksum|sha256/).first().waitFor()
  await page.getByText(/Next:/).waitFor()
  await picture('attention')
  await hands.press(link(m.name))
  await state('deploy failed')
  await picture('failed')

  await verb('Deploy', async (dialog) => {
    assert.equal(await dialog.getByLabel(/^Image: its name/).inputValue(), m.image)
    await hands.type(dialog.getByLabel(/^Checksum/), m.sha256)
    await hands.type(dialog.getByLabel(/^Config drive/), m.drive)
  })
  await hands.press(link('Console'))
  await hands.press(button('Turn the console on'))
  await page.locator('.xterm-rows').getByText(m.hostname).first().waitFor({ timeout: boot })
  say('the console shows the operating system')
  await picture('console')
  await state('active', boot)
  say('active')
  await hands.press(link('Time line'))
  await page.locator('.timeline .entry').first().waitFor()
  await picture('timeline')

  await verb('Undeploy')
  await state('available', boot)
  say('undeployed')
  await hands.done()
  quiet(page)
  if (hands.stops) assert.ok(hands.stops > 100, `${hands.stops} stops of the Tab key`)
}
