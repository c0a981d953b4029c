package mqi

// amqTexts has the text per id.
var amqTexts = map[string]string{
	"AMQ8147E": "IBM MQ object %1 not found.",
}
