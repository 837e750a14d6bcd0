// From an empty conductor to a deployed machine, a stuck one and its repair, with the browser alone.
import { strict as assert } from 'node:assert'
import { execFileSync } from 'node:child_process'
import { dirname } from 'node:path'
import { accessible, quiet, settled, shot } from '../lib/checks.mjs'
import { Conductor, program } from '../lib/conductor.mjs'

export async function life({ tally, browser }) {
  const c = await new Conductor().start()
  try {
    const page = await browser.page()
    const state = (text) => page.locator('.heading').getByText(text, { exact: true }).waitFor()
    const ask = async (label, name, fill = async () => {}) => {
      await page.getByRole('button', { name: label, exact: true }).click()
      const dialog = page.getByRole('dialog')
      await fill(dialog)
      if (name) await dialog.getByLabel(/^Type /).fill(name)
      await dialog.getByRole('button', { name: label, exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    const enroll = async (name) => {
      await page.goto(`${c.url}/ui/enroll`)
      await settled(page)
      await page.getByLabel('Name', { exact: true }).fill(name)
      await page.getByLabel('Driver', { exact: true }).selectOption('fake-hardware')
      await page.getByRole('button', { name: 'Enroll' }).click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await state('manageable')
    }

    await tally.check('an empty conductor shows three ways to begin, and their commands work as they are copied', async () => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.goto(`${c.url}/ui/`)
      await settled(page)
      await page.getByText('No machine is known yet').waitFor()
      await accessible(page)
      await shot(page, 'machines-empty')
      for (const way of ['Apply a file of machines', 'Add one machine by its BMC']) {
        await page.locator('summary', { hasText: way }).click()
        await page.getByRole('button', { name: `Copy: the commands of “${way}”` }).click()
        await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor()
        const copied = await page.evaluate(() => navigator.clipboard.readText())
        assert.ok(copied.includes(c.url), copied)
        execFileSync('bash', ['-ec', copied], { cwd: c.dir, input: 'a secret\n', env: { ...process.env, PATH: `${dirname(program)}:${process.env.PATH}` } })
        await page.getByRole('heading', { name: 'More machines' }).waitFor()
      }
      await page.getByRole('gridcell', { name: /metal-1/ }).waitFor()
      assert.equal((await c.call('GET', '/v1/nodes/metal-1')).inspect_interface, 'agent')
      for (const name of ['metal-1', 'rack1-1', 'rack1-2']) await c.call('DELETE', `/v1/nodes/${name}`)
      for (let i = 0; i < 200 && (await c.call('GET', '/v1/nodes')).nodes.length > 0; i++) await page.waitForTimeout(50)
    })

    await tally.check('the connection with a BMC is tested before there is a node', async () => {
      await page.goto(`${c.url}/ui/enroll`)
      await settled(page)
      await page.getByLabel('Address of the BMC').fill('https://127.0.0.1:1')
      await page.getByLabel('Password of the BMC').fill('a secret of the BMC')
      await page.getByRole('button', { name: 'Test the connection' }).click()
      const said = page.getByRole('alert')
      await said.getByText(/connection refused: check “Address of the BMC”/).waitFor()
      assert.ok(!(await said.innerText()).includes('a secret'))
      await accessible(page)
      await shot(page, 'enroll-tested')
      await page.getByLabel('Driver', { exact: true }).selectOption('fake-hardware')
      await page.getByRole('button', { name: 'Test the connection' }).click()
      await page.getByText(/The BMC answers, and accepts the login/).waitFor()
      assert.equal((await c.call('GET', '/v1/nodes')).nodes.length, 0)
    })

    await tally.check('an address that leads nowhere says so, and leads back', async () => {
      await page.goto(`${c.url}/ui/machines/metal-2/disks`)
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
      assert.equal(await page.getByRole('link', { name: 'metal-2', exact: true }).getAttribute('href'), '/ui/machines/metal-2')
      await page.getByRole('link', { name: 'All machines' }).click()
      await page.getByRole('heading', { level: 1, name: 'Machines' }).waitFor()
    })

    await tally.check('a machine is enrolled, provided and deployed', async () => {
      await enroll('web-1')
      await page.getByRole('link', { name: 'All fields' }).click()
      await page.getByRole('button', { name: 'Change fields' }).click()
      const text = page.getByLabel('Fields, as JSON')
      await text.fill((await text.inputValue()).replace('"description": null', '"description": "The first web server"'))
      await page.getByText('set /description = The first web server').waitFor()
      await shot(page, 'machine-change')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await ask('Provide', 'web-1')
      await state('available')
      await ask('Deploy', 'web-1', async (dialog) => {
        await dialog.getByLabel(/^Image: its name/).fill('http://10.0.0.1/debian.qcow2')
        await dialog.getByLabel(/^Checksum/).fill('abc')
        await dialog.getByText(/Expected hex of sha256/).waitFor()
        await dialog.getByLabel(/^Checksum/).fill('0a1b'.repeat(16))
        await dialog.getByLabel(/^Config drive/).fill('{"meta_data": {"hostname": "web-1"}}')
        await accessible(page)
        await shot(page, 'machine-deploy')
      })
      await state('active')
      const info = (await c.call('GET', '/v1/nodes/web-1')).instance_info
      assert.equal(info.image_source, 'http://10.0.0.1/debian.qcow2')
      assert.equal(info.image_os_hash_algo, 'sha256')
    })

    await tally.check('a stuck machine is found, aborted and repaired', async () => {
      await enroll('web-2')
      await c.call('PATCH', '/v1/nodes/web-2', [{ op: 'add', path: '/inspect_interface', value: 'agent' }])
      await ask('Inspect')
      await state('inspect wait')
      await page.goto(`${c.url}/ui/?view=progress`)
      await page.getByText('the inspection data of the ramdisk').waitFor()
      await page.getByRole('link', { name: 'web-2' }).click()
      await ask('Abort', 'web-2')
      await state('inspect failed')
      await page.goto(`${c.url}/ui/?view=attention`)
      await page.getByText(/inspect aborted by request/).waitFor()
      await page.getByText(/Next:/).waitFor()
      await page.getByRole('link', { name: 'web-2' }).click()
      assert.equal(await page.locator('main button.primary').innerText(), await page.getByRole('group', { name: 'Next step' }).getByRole('button').first().innerText())
      await ask('Manage')
      await state('manageable')
    })

    await tally.check('a machine is accepted from the inbox', async () => {
      const found = await c.call('POST', '/v1/nodes', { driver: 'fake-hardware' })
      await page.goto(`${c.url}/ui/discovered`)
      await settled(page)
      await page.getByRole('checkbox', { name: `Choose ${found.uuid}` }).check()
      await page.getByLabel(/^Name/).fill('not a name')
      await page.getByText('Letters, digits, dots and dashes alone.').waitFor()
      await page.getByLabel(/^Name/).fill('web-3')
      await page.getByRole('button', { name: 'Accept and manage 1 machine' }).click()
      await page.getByText('All were accepted').waitFor()
      await c.until('web-3', 'manageable')
    })

    await tally.check('a console is drawn by the rules of the page’s policy, and says why it has none', async () => {
      await page.goto(`${c.url}/ui/machines/web-1?tab=console`)
      await page.getByRole('button', { name: 'Turn the console on' }).click()
      await page.getByText(/has no serial console/).waitFor()
      await page.locator('.xterm-rows').waitFor()
      const cell = await page.locator('.xterm-rows > div').first().boundingBox()
      assert.ok(cell.height > 10 && cell.height < 30, `a row is ${cell.height} pixels high`)
      quiet(page)
    })

    await tally.check('a console shows what a line says, and writes by keys', async () => {
      const typed = []
      await page.routeWebSocket(/\/console\?/, (socket) => {
        socket.onMessage((bytes) => typed.push(String(bytes)))
        socket.send(JSON.stringify({ role: socket.url().includes('write=true') ? 'writer' : 'reader' }))
        socket.send(Buffer.from('\u001b[32mweb-1 login:\u001b[0m <b>bold</b> '))
      })
      await page.reload()
      await page.getByRole('button', { name: 'Turn the console on' }).click()
      await page.getByText('Read only.').waitFor()
      await page.locator('.xterm-rows').getByText('web-1 login: <b>bold</b>').waitFor()
      await page.getByRole('button', { name: 'Request write access', exact: true }).click()
      await page.getByText('Read and write.').waitFor()
      await page.locator('.xterm-helper-textarea').focus()
      await page.keyboard.type('root')
      await page.waitForTimeout(300)
      assert.equal(typed.join(''), 'root')
      await shot(page, 'machine-console-open')
      quiet(page)
    })

    await tally.check('a host is added and changed, and a wrong document is refused as it is typed', async () => {
      await page.goto(`${c.url}/ui/hosts`)
      await settled(page)
      await page.getByRole('button', { name: 'Add a host' }).click()
      const text = page.getByLabel('BareMetalHost, as YAML')
      await text.fill('apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata:\n  name: worker-0\nspec:\n  onlin: true\n')
      await page.getByText(/onlin/).last().waitFor()
      await page.locator('#document-check.bad').waitFor()
      await text.fill('apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata:\n  name: worker-0\nspec:\n  online: false\n')
      await page.getByText('The conductor would take this document.').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByRole('link', { name: 'worker-0' }).click()
      const document = page.getByLabel('The document, as YAML')
      await document.fill((await document.inputValue()).replace('online: false', 'online: true'))
      await page.getByRole('button', { name: 'Apply' }).click()
      for (let i = 0; i < 100; i++) {
        const host = await c.call('GET', '/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts/worker-0')
        if (host.spec.online) return
        await page.waitForTimeout(50)
      }
      assert.fail('the document was not stored')
    })

    await tally.check('no script failed on the way', () => quiet(page))
    await page.context().close()
  } finally {
    await c.stop()
  }
}
