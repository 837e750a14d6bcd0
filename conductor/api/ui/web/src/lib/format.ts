// Times, sizes and texts as people read them.

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** bytes writes a size in powers of 1,000, as makers of disks do. */
export function bytes(count: number): string {
  if (!Number.isFinite(count) || count < 0) return '?'
  let unit = 0
  let value = count
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10} ${units[unit]}`
}

export const rate = (perSecond: number): string => `${bytes(perSecond)}/s`

/** duration writes seconds with at most two units: 45 s, 3 min 5 s, 2 h 10 min, 4 d. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '?'
  const s = Math.max(0, Math.round(seconds))
  const two = (large: number, unit: string, rest: number, small: string) =>
    rest > 0 && large < 10 ? `${large} ${unit} ${rest} ${small}` : `${large} ${unit}`
  if (s < 60) return `${s} s`
  if (s < 3600) return two(Math.floor(s / 60), 'min', s % 60, 's')
  if (s < 86400) return two(Math.floor(s / 3600), 'h', Math.floor((s % 3600) / 60), 'min')
  return two(Math.floor(s / 86400), 'd', Math.floor((s % 86400) / 3600), 'h')
}

/** shortDuration writes seconds with one unit, for narrow columns. */
export function shortDuration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds))
  if (s < 60) return `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min`
  if (s < 86400) return `${Math.floor(s / 3600)} h`
  return `${Math.floor(s / 86400)} d`
}

/** secondsSince is how long ago a time was; NaN for none. */
export function secondsSince(at: string | null | undefined, now: number): number {
  return at ? (now - Date.parse(at)) / 1000 : NaN
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat('en-CA', { year: 'numeric', month: '2-digit', day: '2-digit' })

/** timeOfDay is 18:02:11 in the reader's time zone. */
export function timeOfDay(at: string | number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? '?' : clock.format(date)
}

/** dateTime is 2026-03-01 18:02:11 in the reader's time zone. */
export function dateTime(at: string | number | null | undefined): string {
  if (at === null || at === undefined || at === '') return ''
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? '?' : `${day.format(date)} ${clock.format(date)}`
}

/** dateOf is the day of a time, as a heading. */
export const dateOf = (at: string | number): string => day.format(new Date(at))

// Control characters, and those that change the direction of text: a name with them could pass for another one.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** visible shows characters of a text that would be hidden, or would turn it around. */
export function visible(text: string): string {
  return text.replace(hidden, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** plural is 1 machine, 2 machines. */
export const plural = (count: number, noun: string, many = `${noun}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? noun : many}`

/** asText shows any value of a JSON document on one line. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return visible(value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return visible(JSON.stringify(value))
}
