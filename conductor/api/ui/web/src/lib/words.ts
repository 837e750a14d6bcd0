// Names of fields in texts of the conductor, as the forms here call them.

/** labels are the labels of forms, by the path that errors name. */
const labels: Record<string, string> = {
  last_error: 'the last error',
  'instance_info/image_source': '“Image”',
  'instance_info/image_checksum': '“Checksum”',
  'driver_info/redfish_address': '“Address of the BMC”',
}

/** names are the labels by the path, and by the key alone where drivers name that: redfish_address. */
const names = Object.fromEntries(Object.entries(labels).flatMap(([path, label]) => [[path, label], [path.split('/').at(-1)!, label]]))

const path = new RegExp(`(?<![\\w/.])(${Object.keys(names).sort((a, b) => b.length - a.length).join('|')})(?![\\w/])`, 'g')

/** inLabels is a text with the labels of forms in place of the API's names of fields. */
export const inLabels = (text: string): string => text && text.replace(path, (name) => names[name] ?? name)
