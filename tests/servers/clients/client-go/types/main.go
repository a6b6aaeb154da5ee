// Command types writes what the embedded server has to know of the types of its objects, www/server/types/types.txt:
// of each type its fields, as name=number:type[:strategy[:key]]. The number is that in protobuf, strategy and key are
// those of a strategic merge patch. A field without a name is inline. Behind a type stands what messages of Go call it,
// in angles, where that does not follow from it. At the end an exclamation mark says that JSON leaves out the zero
// value. A question mark says that it leaves out a pointer to nothing.
package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var roots = []any{
	corev1.Pod{}, corev1.Node{}, corev1.Namespace{}, corev1.Event{}, corev1.ConfigMap{}, corev1.Service{},
	appsv1.Deployment{}, appsv1.ReplicaSet{}, autoscalingv1.Scale{}, policyv1.Eviction{},
	authorizationv1.SelfSubjectAccessReview{}, authorizationv1.SelfSubjectRulesReview{},
	authenticationv1.SelfSubjectReview{}, metav1.DeleteOptions{},
}

// Types with a form of their own in JSON or in protobuf.
var special = map[reflect.Type]string{
	reflect.TypeOf(metav1.Time{}):          "Time",
	reflect.TypeOf(metav1.MicroTime{}):     "MicroTime",
	reflect.TypeOf(metav1.FieldsV1{}):      "Raw",
	reflect.TypeOf(runtime.RawExtension{}): "Raw",
	reflect.TypeOf(resource.Quantity{}):    "Quantity",
	reflect.TypeOf(intstr.IntOrString{}):   "IntOrString",
}

var seen = map[string][]string{}

func name(t reflect.Type) string {
	path := strings.Split(t.PkgPath(), "/")
	return strings.Join(path[len(path)-2:], "/") + "." + t.Name()
}

func kind(t reflect.Type) string {
	if form, ok := special[t]; ok {
		return form
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kind(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int32, reflect.Int64:
		return t.Kind().String()
	case reflect.Map:
		return "{}" + kind(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + kind(t.Elem())
	case reflect.Struct:
		visit(t)
		return name(t)
	}
	panic(fmt.Sprint("a type without a form: ", t))
}

// What Go calls a type of this form, as long as it has no name of its own.
func goName(form string) string {
	switch {
	case strings.HasPrefix(form, "[]"):
		return "[]" + goName(form[2:])
	case strings.HasPrefix(form, "{}"):
		return "map[string]" + goName(form[2:])
	case form == "bytes":
		return "[]uint8"
	}
	return form[strings.LastIndex(form, "/")+1:]
}

// The mark of a field: what becomes of its zero value.
func mark(field reflect.StructField) string {
	options := strings.Split(field.Tag.Get("json"), ",")[1:]
	switch {
	case field.Type.Kind() == reflect.Pointer && len(options) > 0:
		return "?"
	case slices.Contains(options, "omitzero"):
		return "!"
	case slices.Contains(options, "omitempty") && field.Type.Kind() != reflect.Struct:
		return "!"
	}
	return ""
}

func visit(t reflect.Type) {
	id := name(t)
	if _, ok := seen[id]; ok {
		return
	}
	seen[id] = nil
	fields := []string{}
	for i := range t.NumField() {
		field := t.Field(i)
		wire := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(wire) < 2 {
			continue // TypeMeta
		}
		number, err := strconv.Atoi(wire[1])
		if err != nil {
			panic(err)
		}
		json := strings.Split(field.Tag.Get("json"), ",")
		form := kind(field.Type)
		own := field.Type
		if own.Kind() == reflect.Pointer {
			own = own.Elem()
		}
		if _, ok := special[own]; !ok && own.String() != goName(form) {
			form += "<" + own.String() + ">"
		}
		form += mark(field)
		entry := fmt.Sprintf("%s=%d:%s", json[0], number, form)
		if strategy := field.Tag.Get("patchStrategy"); strategy != "" {
			entry += ":" + strategy
			if key := field.Tag.Get("patchMergeKey"); key != "" {
				entry += ":" + key
			}
		}
		fields = append(fields, entry)
	}
	seen[id] = fields
}

func main() {
	for _, root := range roots {
		visit(reflect.TypeOf(root))
	}
	names := make([]string, 0, len(seen))
	for id := range seen {
		names = append(names, id)
	}
	sort.Strings(names)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	// A line a type, so that a change is seen.
	for _, id := range names {
		fmt.Fprintln(out, strings.Join(append([]string{id}, seen[id]...), " "))
	}
}
