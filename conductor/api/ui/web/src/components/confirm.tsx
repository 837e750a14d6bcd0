import { visible } from '../lib/format'

/** Confirm is the field in which somebody repeats a text before something is destroyed. */
export function Confirm({ danger, text, value, onChange }: { danger: string; text: string; value: string; onChange: (value: string) => void }) {
  return (
    <div className="confirm">
      <p>
        <strong>{danger}</strong>
      </p>
      <label>
        <span>
          Type <code>{visible(text)}</code> to continue
        </span>
        <input value={value} onChange={(event) => onChange(event.target.value)} autoComplete="off" spellCheck={false} />
      </label>
    </div>
  )
}
