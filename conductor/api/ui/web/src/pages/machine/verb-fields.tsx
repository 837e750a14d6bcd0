import { useEffect, useState } from 'react'
import type { Arguments } from '../../api/machine'
import { checksumError, type Image } from '../../lib/deploy'
import { parseSteps } from '../../lib/steps'
import type { Verb } from '../../lib/verbs'

interface Props {
  verb: Verb
  /** onChange is told the arguments; null while they cannot be sent. */
  onChange: (args: Arguments | null) => void
  /** image is that of the machine's last deploy, which may need a correction only; undefined for several machines. */
  image?: Image
  /** steps are offered in a form of steps. */
  steps?: string[]
}

/** VerbFields are the fields of a verb's form. */
export function VerbFields(props: Props) {
  switch (props.verb.form) {
    case 'deploy':
    case 'rebuild':
      return <ImageFields {...props} />
    case 'steps':
      return <StepFields {...props} />
    case 'rescue':
      return <RescueFields {...props} />
    case 'reason':
      return <ReasonFields {...props} />
    default:
      return null
  }
}

/** configDrive reads JSON, or leaves a URL or base64 as it is. */
function configDrive(text: string): Pick<Arguments, 'configdrive'> | string {
  const typed = text.trim()
  if (typed === '') return {}
  if (!typed.startsWith('{')) return { configdrive: typed }
  try {
    return { configdrive: JSON.parse(typed) as Record<string, unknown> }
  } catch (err) {
    return `The config drive is no JSON: ${(err as Error).message}`
  }
}

function ImageFields({ onChange, image }: Props) {
  const [url, setURL] = useState(image?.url ?? '')
  const [checksum, setChecksum] = useState(image?.checksum ?? '')
  const [format, setFormat] = useState(image?.format ?? '')
  const [drive, setDrive] = useState('')
  const sumError = checksumError(checksum.trim())
  const given = configDrive(drive)
  const driveError = typeof given === 'string' ? given : ''
  const orphan = url.trim() === '' && checksum.trim() !== ''
  useEffect(() => {
    onChange(orphan || sumError || typeof given === 'string' ? null : { image: { url: url.trim(), checksum: checksum.trim(), format }, ...given })
  }, [url, checksum, format, drive])
  return (
    <fieldset>
      <label>
        Image: its name, or a URL
        <input value={url} onChange={(e) => setURL(e.target.value)} placeholder="debian-12, or http://10.0.0.1/debian.qcow2" spellCheck={false} autoComplete="off" />
        <small className={orphan ? 'bad' : ''}>{orphan ? 'A checksum needs its image.' : image ? 'The images with a name are on the page Images.' : 'Left empty: the image that each machine has.'}</small>
      </label>
      <label>
        Checksum
        <input value={checksum} onChange={(e) => setChecksum(e.target.value)} placeholder="sha256:0a1b…" spellCheck={false} aria-invalid={sumError !== ''} aria-describedby="sum-error" />
        <small id="sum-error" className={sumError ? 'bad' : ''}>
          {sumError || 'sha256 or sha512 in hex, or the URL of a file of checksums. An image with a name needs none.'}
        </small>
      </label>
      <label>
        Format
        <select value={format} onChange={(e) => setFormat(e.target.value)}>
          <option value="">detected</option>
          <option value="raw">raw</option>
          <option value="qcow2">qcow2</option>
        </select>
      </label>
      <label>
        Config drive
        <textarea value={drive} onChange={(e) => setDrive(e.target.value)} rows={4} spellCheck={false} placeholder={'{"meta_data": {"hostname": "web-1"}, "user_data": "#cloud-config\\n"}'} aria-invalid={driveError !== ''} aria-describedby="drive-error" />
        <small id="drive-error" className={driveError ? 'bad' : ''}>
          {driveError || 'JSON with meta_data, user_data, network_data; or a URL. Left empty: none.'}
        </small>
      </label>
    </fieldset>
  )
}

function StepFields({ verb, onChange, steps = [] }: Props) {
  const [text, setText] = useState('')
  const [runbook, setRunbook] = useState('')
  const [ramdisk, setRamdisk] = useState(true)
  const read = parseSteps(text)
  useEffect(() => {
    const key = verb.id === 'service' ? 'service_steps' : 'clean_steps'
    const more = ramdisk ? {} : { disable_ramdisk: true }
    if (runbook.trim() !== '') onChange({ runbook: runbook.trim(), ...more })
    else onChange(read.error ? null : { [key]: read.steps, ...more })
  }, [text, runbook, ramdisk])
  return (
    <fieldset>
      <label>
        Steps, one a line
        <textarea value={text} onChange={(e) => setText(e.target.value)} rows={4} spellCheck={false} placeholder="deploy.erase_devices_metadata" disabled={runbook !== ''} aria-describedby="steps-error" />
        <small id="steps-error" className={text !== '' && read.error ? 'bad' : ''}>
          {(text !== '' && runbook === '' && read.error) || 'INTERFACE.STEP, and behind it KEY=VALUE for arguments.'}
        </small>
      </label>
      {steps.length > 0 && (
        <label>
          Add a step that the machine has
          <select value="" onChange={(e) => setText((now) => `${now}${now === '' || now.endsWith('\n') ? '' : '\n'}${e.target.value}\n`)} disabled={runbook !== ''}>
            <option value="">choose …</option>
            {steps.map((step) => (
              <option key={step}>{step}</option>
            ))}
          </select>
        </label>
      )}
      <label>
        Or a runbook, by its name
        <input value={runbook} onChange={(e) => setRunbook(e.target.value)} spellCheck={false} />
      </label>
      <label className="inline">
        <input type="checkbox" checked={!ramdisk} onChange={(e) => setRamdisk(!e.target.checked)} />
        Do not boot the ramdisk: the steps are those of the BMC
      </label>
    </fieldset>
  )
}

function RescueFields({ onChange }: Props) {
  const [password, setPassword] = useState('')
  useEffect(() => onChange(password === '' ? null : { rescue_password: password }), [password])
  return (
    <fieldset>
      <label>
        Password of the user rescue
        <input type="password" autoComplete="new-password" value={password} onChange={(e) => setPassword(e.target.value)} />
        <small>Log in with ssh rescue@ADDRESS once the machine is in rescue.</small>
      </label>
    </fieldset>
  )
}

function ReasonFields({ onChange }: Props) {
  const [reason, setReason] = useState('')
  useEffect(() => onChange(reason === '' ? {} : { reason }), [reason])
  return (
    <fieldset>
      <label>
        Reason
        <input value={reason} onChange={(e) => setReason(e.target.value)} maxLength={255} />
      </label>
    </fieldset>
  )
}
