package mem

import "reflect"

// clone copies a kept record with all that hangs from it, so that whoever reads it may
// change what it has read. It has been through JSON when it was kept, and need not go there
// again each time somebody reads: simulations do little else.
func clone[T any](v T) T {
	unshare(reflect.ValueOf(&v).Elem())
	return v
}

// unshare gives v its own maps, slices and pointees. Fields that are not exported
// stay as they are: records have none but those of time.Time, which never change.
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
