import { useEffect, useState } from 'react'
import { setQuery } from '../../hooks/use-route'
import { fields, parse, withTerm } from '../../lib/filter'

/** MachineFilter is the field of the filter. The address has what it says, so that it can be passed on. */
export function MachineFilter({ text }: { text: string }) {
  const [typed, setTyped] = useState(text)
  useEffect(() => setTyped((now) => (now.trim() === text ? now : text)), [text])
  const change = (value: string) => {
    setTyped(value)
    setQuery({ q: value.trim() })
  }
  return (
    <div className="filter">
      <form role="search" onSubmit={(event) => event.preventDefault()}>
        <label className="visually-hidden" htmlFor="filter">
          Filter
        </label>
        <input
          id="filter"
          type="search"
          value={typed}
          onChange={(event) => change(event.target.value)}
          placeholder='Filter: rack-4 state:failed class:gpu -maintenance:yes'
          spellCheck={false}
          autoComplete="off"
          aria-describedby="filter-help"
        />
        {typed !== '' && (
          <button type="button" onClick={() => change('')}>
            Clear
          </button>
        )}
      </form>
      <details className="help">
        <summary id="filter-help">Words of the filter</summary>
        <p>
          A word is looked for in name, UUID, state, class, driver, owner and error. A key with a value looks in one of them; a minus before it negates
          it; quotes hold words together. The address of this page has the filter: pass it on.
        </p>
        <ul className="keys">
          {Object.entries(fields).map(([key, field]) => (
            <li key={key}>
              <button type="button" onClick={() => change(`${withTerm(typed, key, '')} ${key}:`.trim())}>
                {key}:
              </button>{' '}
              {field.means}
            </li>
          ))}
        </ul>
      </details>
      {parse(typed).some((term) => term.value.endsWith(':')) && <p className="muted">Type a value behind the colon.</p>}
    </div>
  )
}
