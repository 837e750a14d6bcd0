// Debian's Chromium, and pages that tell of everything that goes wrong in them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync']

/** sizes are the windows that pages are tried in. */
export const sizes = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } }

export class Browser {
  async start() {
    this.dir = mkdtempSync(join(tmpdir(), 'ferrite-chromium-'))
    this.running = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags })
    return this
  }

  async stop() {
    await this.running.close()
    rmSync(this.dir, { recursive: true, force: true })
  }

  /** page opens a window of its own; page.wrong collects errors of scripts and refusals of the policy. */
  async page({ size = 'wide', dark = false } = {}) {
    const context = await this.running.newContext({ viewport: sizes[size], colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' })
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    page.wrong = []
    page.on('pageerror', (err) => page.wrong.push(`error: ${err.message}`))
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource|net::ERR/.test(message.text())) page.wrong.push(message.text())
    })
    page.on('dialog', (dialog) => {
      page.wrong.push(`a script has opened a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    return page
  }
}
