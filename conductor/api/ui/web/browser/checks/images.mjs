// Images of this computer: uploaded with progress, cancelled, refused.
import { strict as assert } from 'node:assert'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { accessible, quiet, settled, shot } from '../lib/checks.mjs'
import { Conductor } from '../lib/conductor.mjs'

export async function images({ tally, browser }) {
  const c = await new Conductor().start()
  const names = async () => (await c.call('GET', '/ferrite/v1/images')).images.map((i) => i.name)
  try {
    const page = await browser.page()
    const form = page.getByRole('form', { name: 'Upload an image' })
    const content = randomBytes(4 << 20)
    const choose = (name) => form.getByLabel('File of this computer').setInputFiles({ name, mimeType: 'application/octet-stream', buffer: content })
    await page.goto(`${c.url}/ui/images`)
    await settled(page)
    await page.getByRole('button', { name: 'Add an image' }).click()
    await form.waitFor()

    await tally.check('a file is uploaded, under the name of the file, with its checksum', async () => {
      await choose('Tiny OS.qcow2.xz')
      assert.equal(await form.getByLabel('Name').inputValue(), 'Tiny-OS')
      await form.getByLabel('Name').fill('tiny')
      await form.getByLabel('Checksum').fill(createHash('sha256').update(content).digest('hex'))
      await form.getByRole('button', { name: 'Upload' }).click()
      await form.getByText('tiny is uploaded.').waitFor()
      await page.locator('td', { hasText: 'tiny' }).first().waitFor()
      assert.deepEqual(await names(), ['tiny'])
    })

    await tally.check('a taken name and a wrong checksum are refused, and nothing is kept', async () => {
      await form.getByLabel('Name').fill('tiny')
      await form.getByText('There is an image of this name.').waitFor()
      assert.ok(await form.getByRole('button', { name: 'Upload' }).isDisabled())
      await form.getByLabel('Name').fill('not a name')
      await form.getByText(/Letters, digits/).waitFor()
      await form.getByLabel('Name').fill('other')
      await form.getByLabel('Checksum').fill('0a1b'.repeat(16))
      await form.getByRole('button', { name: 'Upload' }).click()
      await form.getByRole('alert').getByText(/checksum/).waitFor()
      assert.deepEqual(await names(), ['tiny'])
    })

    await tally.check('an upload shows its rate and the time left, and can be cancelled', async () => {
      const client = await page.context().newCDPSession(page)
      await client.send('Network.enable')
      await client.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 200_000 })
      await form.getByLabel('Checksum').fill('')
      await form.getByLabel('Name').fill('slow')
      await form.getByRole('button', { name: 'Upload' }).click()
      await form.getByText(/\/s, .* left/).waitFor()
      await accessible(page)
      await shot(page, 'images-upload')
      await form.getByRole('button', { name: 'Cancel' }).click()
      await form.getByText('The upload was cancelled.').waitFor()
      for (let i = 0; (await names()).length > 1; i++) {
        assert.ok(i < 50, 'the conductor keeps a part of it')
        await page.waitForTimeout(100)
      }
      await form.getByRole('button', { name: 'Upload' }).isEnabled()
    })

    await tally.check('an image is fetched from a URL, under the name of its file', async () => {
      const server = createServer((_, answer) => answer.end(content)).listen(0, '127.0.0.1')
      try {
        await once(server, 'listening')
        await page.getByRole('button', { name: 'From a URL' }).click()
        const fetching = page.getByRole('form', { name: 'Fetch an image' })
        await fetching.getByLabel('URL').fill(`http://127.0.0.1:${server.address().port}/images/fetched-1.raw`)
        assert.equal(await fetching.getByLabel('Name').inputValue(), 'fetched-1')
        await accessible(page)
        await shot(page, 'images-fetch')
        await fetching.getByRole('button', { name: 'Fetch' }).click()
        await page.getByRole('dialog').waitFor({ state: 'detached' })
        await page.getByRole('row', { name: /fetched-1/ }).waitFor()
      } finally {
        server.close()
      }
    })

    await tally.check('no script of the images failed', () => quiet(page))
    await page.context().close()
  } finally {
    await c.stop()
  }
}
