// Names of fields in texts of the conductor, as the forms here call them.
import { labels as forms } from '../api/labels'

/** names are what people read, by the path that errors name, and by the key alone where drivers name that: redfish_address. */
const names: Record<string, string> = { last_error: 'the last error' }
for (const [path, label] of Object.entries(forms)) names[path] = names[path.split('/').at(-1)!] = `“${label}”`

const path = new RegExp(`(?<![\\w/.])(${Object.keys(names).sort((a, b) => b.length - a.length).join('|')})(?![\\w/])`, 'g')

/** inLabels is a text with the labels of forms in place of the API's names of fields. */
export const inLabels = (text: string): string => text && text.replace(path, (name) => names[name] ?? name)
