package qmgr

import (
	"github.com/situationd/situationd/mqengine/mqi"
)

// applTypeUnix is MQAT_UNIX, the PutApplType of every application here.
const applTypeUnix int32 = 6

// applTypeQMgr is MQAT_QMGR, the PutApplType of what the queue manager itself puts.
const applTypeQMgr int32 = 7

// maxPutApplName is the length of PutApplName.
const maxPutApplName = 28

// context is the identity and origin of a message.
type context struct {
	userIdentifier   string
	accountingToken  [32]byte
	applIdentityData string
	putApplType      int32
	putApplName      string
	putDateTime      int64
	applOriginData   string
}

func contextOf(md *mqi.MD) *context {
	return &context{
		md.UserIdentifier, md.AccountingToken, md.ApplIdentityData,
		md.PutApplType, md.PutApplName, md.PutDateTime, md.ApplOriginData,
	}
}

func (x *context) identity(md *mqi.MD) {
	md.UserIdentifier, md.AccountingToken, md.ApplIdentityData = x.userIdentifier, x.accountingToken, x.applIdentityData
}

func (x *context) originTo(md *mqi.MD) {
	md.PutApplType, md.PutApplName, md.PutDateTime, md.ApplOriginData = x.putApplType, x.putApplName, x.putDateTime, x.applOriginData
}

const contextOptions = mqi.MQPMO_DEFAULT_CONTEXT | mqi.MQPMO_PASS_IDENTITY_CONTEXT | mqi.MQPMO_PASS_ALL_CONTEXT |
	mqi.MQPMO_SET_IDENTITY_CONTEXT | mqi.MQPMO_SET_ALL_CONTEXT | mqi.MQPMO_NO_CONTEXT

// setContext fills in who put the message and when. opened are the options of
// the handle it is put with.
func (m *Machine) setContext(md *mqi.MD, c *conn, opened int32, pmo *mqi.PMO, now int64) mqi.Reason {
	option := pmo.Options & contextOptions
	if option&(option-1) != 0 {
		return mqi.MQRC_OPTIONS_ERROR
	}
	var passed *context
	if option == mqi.MQPMO_PASS_IDENTITY_CONTEXT || option == mqi.MQPMO_PASS_ALL_CONTEXT {
		x, reason := c.passedContext(opened, option, pmo.Context)
		if reason != mqi.MQRC_NONE {
			return reason
		}
		passed = x
	}
	if option == mqi.MQPMO_SET_ALL_CONTEXT || option == mqi.MQPMO_SET_IDENTITY_CONTEXT {
		if reason := maySet(opened, option); reason != mqi.MQRC_NONE {
			return reason
		}
	}
	if option == mqi.MQPMO_SET_ALL_CONTEXT {
		return mqi.MQRC_NONE
	}
	if option == mqi.MQPMO_PASS_ALL_CONTEXT {
		passed.identity(md)
		passed.originTo(md)
		return mqi.MQRC_NONE
	}
	switch option {
	case mqi.MQPMO_PASS_IDENTITY_CONTEXT:
		passed.identity(md)
	case mqi.MQPMO_SET_IDENTITY_CONTEXT:
	case mqi.MQPMO_NO_CONTEXT:
		none := context{}
		none.identity(md)
		none.originTo(md)
		return mqi.MQRC_NONE
	default:
		md.UserIdentifier, md.AccountingToken, md.ApplIdentityData = c.appl.UserID, [32]byte{}, ""
	}
	md.PutApplType, md.PutApplName, md.PutDateTime, md.ApplOriginData = applTypeUnix, c.applName(), now, ""
	return mqi.MQRC_NONE
}

func (c *conn) applName() string {
	if len(c.appl.Tag) > maxPutApplName {
		return c.appl.Tag[:maxPutApplName]
	}
	return c.appl.Tag
}

// passedContext is the context saved with the handle that PASS names.
func (c *conn) passedContext(opened, option int32, from uint32) (*context, mqi.Reason) {
	switch {
	case option == mqi.MQPMO_PASS_ALL_CONTEXT && opened&mqi.MQOO_PASS_ALL_CONTEXT == 0:
		return nil, mqi.MQRC_NOT_OPEN_FOR_PASS_ALL
	case option == mqi.MQPMO_PASS_IDENTITY_CONTEXT && opened&(mqi.MQOO_PASS_IDENTITY_CONTEXT|mqi.MQOO_PASS_ALL_CONTEXT) == 0:
		return nil, mqi.MQRC_NOT_OPEN_FOR_PASS_IDENT
	}
	h, _ := c.handleOf(from)
	switch {
	case h == nil || !h.has(mqi.MQOO_SAVE_ALL_CONTEXT):
		return nil, mqi.MQRC_CONTEXT_HANDLE_ERROR
	case h.saved == nil:
		return nil, mqi.MQRC_CONTEXT_NOT_AVAILABLE
	}
	return h.saved, mqi.MQRC_NONE
}

func maySet(opened, option int32) mqi.Reason {
	switch {
	case option == mqi.MQPMO_SET_ALL_CONTEXT && opened&mqi.MQOO_SET_ALL_CONTEXT == 0:
		return mqi.MQRC_NOT_OPEN_FOR_SET_ALL
	case option == mqi.MQPMO_SET_IDENTITY_CONTEXT && opened&(mqi.MQOO_SET_IDENTITY_CONTEXT|mqi.MQOO_SET_ALL_CONTEXT) == 0:
		return reasonNotOpenForSetIdent
	}
	return mqi.MQRC_NONE
}

// reasonNotOpenForSetIdent is MQRC_NOT_OPEN_FOR_SET_IDENT.
const reasonNotOpenForSetIdent mqi.Reason = 2096
