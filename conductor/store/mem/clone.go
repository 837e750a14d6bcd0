package mem

import "reflect"

// clone makes a deep copy of a kept record, so that the caller may change it. The record went through JSON when it was
// kept. Doing that again for each read would be most of the work of a simulation.
func clone[T any](v T) T {
	unshare(reflect.ValueOf(&v).Elem())
	return v
}

// unshare gives v its own maps, slices and pointees. Unexported fields stay as they are. Among records only time.Time
// has any, and it never changes.
func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				unshare(f)
			}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			unshareElem(v)
		}
	case reflect.Slice:
		if !v.IsNil() {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			v.Set(own)
			unshareItems(own)
		}
	case reflect.Array:
		unshareItems(v)
	case reflect.Map:
		if !v.IsNil() {
			unshareMap(v)
		}
	default: // numbers and strings share nothing
	}
}

func unshareElem(v reflect.Value) {
	own := reflect.New(v.Elem().Type())
	own.Elem().Set(v.Elem())
	unshare(own.Elem())
	if v.Kind() == reflect.Interface {
		own = own.Elem()
	}
	v.Set(own)
}

// unshareItems does it for the items of a slice or an array, unless they are
// numbers or strings.
func unshareItems(v reflect.Value) {
	switch v.Type().Elem().Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Array, reflect.Map:
		for i := range v.Len() {
			unshare(v.Index(i))
		}
	default:
	}
}

func unshareMap(v reflect.Value) {
	own := reflect.MakeMapWithSize(v.Type(), v.Len())
	item := reflect.New(v.Type().Elem()).Elem()
	for all := v.MapRange(); all.Next(); {
		item.Set(all.Value())
		unshare(item)
		own.SetMapIndex(all.Key(), item)
	}
	v.Set(own)
}
