import { useSyncExternalStore } from 'react'
import type { Store } from '../lib/store'

/** useStore is the state of a store, at each of its changes. */
export const useStore = <T extends object>(store: Store<T>): T => useSyncExternalStore(store.subscribe, store.get)
