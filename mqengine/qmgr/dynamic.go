package qmgr

import (
	"fmt"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

// defaultDynamicName is what an open of a model queue names its queue after.
const defaultDynamicName = "AMQ.*"

func dynamicName(asked string) string {
	if asked == "" {
		return defaultDynamicName
	}
	return asked
}

// makeDynamic makes a queue of a model. A name that ends in * is completed so that it is unique.
func (m *Machine) makeDynamic(now time.Time, fx *Effects, model *queue, name string) (*queue, mqi.Reason) {
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		if len(prefix) > 33 {
			return nil, mqi.MQRC_DYNAMIC_Q_NAME_ERROR
		}
		m.ids.counter++
		name = fmt.Sprintf("%s%015X", prefix, m.ids.counter&(1<<60-1))
	}
	if object.CheckQueueName(name) != nil {
		return nil, mqi.MQRC_DYNAMIC_Q_NAME_ERROR
	}
	if m.catalog.queues[name] != nil {
		return nil, mqi.MQRC_OBJECT_ALREADY_EXISTS
	}
	o, err := dynamicObject(model.def, name)
	if err != nil {
		return nil, mqi.MQRC_DYNAMIC_Q_NAME_ERROR
	}
	o.SetTimes(now, now)
	return m.addQueue(now, fx, o), mqi.MQRC_NONE
}

// dynamicObject is a local queue with the model's attributes.
func dynamicObject(model *object.Object, name string) (*object.Object, error) {
	o := object.New(object.QLocal, name)
	for _, a := range object.Attrs(object.QModel) {
		if !a.Settable() || !o.Has(a.Keyword) {
			continue
		}
		key, values, _ := model.Field(a.Keyword)
		if err := o.SetFixed(key, values...); err != nil {
			return nil, fmt.Errorf("model queue %s: %w", model.Name, err)
		}
	}
	return o, nil
}
