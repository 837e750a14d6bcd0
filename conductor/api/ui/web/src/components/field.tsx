import { useId, type InputHTMLAttributes } from 'react'

interface Named {
  label: string
  /** field is the name of the same thing in the API and the CLI. */
  field: string
  means?: string
}

/** Field is an input with a label in plain words, the field's name small beside, and below it what to put in. */
export function Field({ label, field, means, ...input }: Named & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <div className="field">
      <Label {...{ id, label, field }} {...(input.required ? { required: true } : {})} />
      <input id={id} name={field} autoComplete="off" spellCheck={false} aria-describedby={means ? `${id}-means` : undefined} {...input} />
      {means && <small id={`${id}-means`}>{means}</small>}
    </div>
  )
}

/** Choice is a list of options with the same label; the first one is the default, which is not sent. */
export function Choice({ label, field, means, usual, options }: Named & { usual: string; options: string[] }) {
  const id = useId()
  return (
    <div className="field">
      <Label {...{ id, label, field }} />
      <select id={id} name={field} defaultValue="" aria-describedby={means ? `${id}-means` : undefined}>
        <option value="">{field === 'inspect_interface' ? 'the usual' : `${usual} (the default)`}</option>
        {options
          .filter((option) => option !== usual)
          .map((option) => (
            <option key={option}>{option}</option>
          ))}
      </select>
      {means && <small id={`${id}-means`}>{means}</small>}
    </div>
  )
}

const Label = ({ id, label, field, required }: { id: string; label: string; field: string; required?: boolean }) => (
  <div className="field-name">
    <label htmlFor={id}>{label}</label>
    {required && <span className="muted">required</span>}
    {label !== field && <code>{field.replace(/^info\//, '')}</code>}
  </div>
)
