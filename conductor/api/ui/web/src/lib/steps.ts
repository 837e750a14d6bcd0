// Steps as they are typed: one a line, with arguments behind.
//
//   deploy.erase_devices_metadata
//   bios.apply_configuration settings=[{"name": "ProcVirtualization", "value": "Enabled"}]

export interface Step {
  interface: string
  step: string
  args?: Record<string, unknown>
}

const line = /^([a-z]+)\.([a-z0-9_]+)\s*(.*)$/

/** parseSteps reads steps; the error names the line. A text that begins with [ is JSON. */
export function parseSteps(text: string): { steps: Step[]; error: string } {
  if (text.trim().startsWith('[')) {
    try {
      return { steps: JSON.parse(text) as Step[], error: '' }
    } catch (err) {
      return { steps: [], error: `The JSON cannot be read: ${(err as Error).message}` }
    }
  }
  const steps: Step[] = []
  for (const [i, whole] of text.split('\n').entries()) {
    const typed = whole.trim()
    if (typed === '' || typed.startsWith('#')) continue
    const found = line.exec(typed)
    if (!found) return { steps: [], error: `Line ${i + 1}: expected INTERFACE.STEP, as in deploy.erase_devices_metadata` }
    const step: Step = { interface: found[1]!, step: found[2]! }
    const args = readArguments(found[3]!)
    if (typeof args === 'string') return { steps: [], error: `Line ${i + 1}: ${args}` }
    if (Object.keys(args).length > 0) step.args = args
    steps.push(step)
  }
  return { steps, error: steps.length === 0 ? 'Type at least one step, or name a runbook.' : '' }
}

/** readArguments reads KEY=VALUE; a value is JSON, or a text without spaces. */
function readArguments(text: string): Record<string, unknown> | string {
  const args: Record<string, unknown> = {}
  let rest = text.trim()
  while (rest !== '') {
    const key = /^([a-z0-9_]+)=/i.exec(rest)
    if (!key) return `expected KEY=VALUE, found ${rest.slice(0, 40)}`
    rest = rest.slice(key[0].length)
    const value = take(rest)
    args[key[1]!] = value.value
    rest = value.rest.trim()
  }
  return args
}

function take(text: string): { value: unknown; rest: string } {
  if (/^["[{]/.test(text)) {
    for (let end = 1; end <= text.length; end++) {
      try {
        return { value: JSON.parse(text.slice(0, end)) as unknown, rest: text.slice(end) }
      } catch {
        // it goes on
      }
    }
  }
  const end = text.search(/\s|$/)
  const word = text.slice(0, end)
  const scalar = /^(true|false|null|-?\d+(\.\d+)?)$/.test(word) ? (JSON.parse(word) as unknown) : word
  return { value: scalar, rest: text.slice(end) }
}
