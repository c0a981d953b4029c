package mqi

// Report options (MQRO_*) of MQMD.Report. Those with data contain the bits of
// those without: one bit asks, the next for the first hundred bytes, the third
// for the whole message.
const (
	MQRO_NEW_MSG_ID                int32 = 0
	MQRO_COPY_MSG_ID_TO_CORREL_ID  int32 = 0
	MQRO_PAN                       int32 = 1
	MQRO_NAN                       int32 = 2
	MQRO_PASS_CORREL_ID            int32 = 0x40
	MQRO_PASS_MSG_ID               int32 = 0x80
	MQRO_COA                       int32 = 0x00000100
	MQRO_COA_WITH_DATA             int32 = 0x00000300
	MQRO_COA_WITH_FULL_DATA        int32 = 0x00000700
	MQRO_COD                       int32 = 0x00000800
	MQRO_COD_WITH_DATA             int32 = 0x00001800
	MQRO_COD_WITH_FULL_DATA        int32 = 0x00003800
	MQRO_PASS_DISCARD_AND_EXPIRY   int32 = 0x00004000
	MQRO_EXPIRATION                int32 = 0x00200000
	MQRO_EXPIRATION_WITH_DATA      int32 = 0x00600000
	MQRO_EXPIRATION_WITH_FULL_DATA int32 = 0x00E00000
	MQRO_EXCEPTION                 int32 = 0x01000000
	MQRO_EXCEPTION_WITH_DATA       int32 = 0x03000000
	MQRO_EXCEPTION_WITH_FULL_DATA  int32 = 0x07000000
	MQRO_DISCARD_MSG               int32 = 0x08000000
	// MQRO_REJECT_UNSUP_MASK are the bits that a queue manager must refuse if it does not know them.
	MQRO_REJECT_UNSUP_MASK int32 = 0x101C0000
)

// Feedback codes (MQFB_*) of report messages; an exception's is its reason code.
const (
	MQFB_NONE       int32 = 0
	MQFB_EXPIRATION int32 = 258
	MQFB_COA        int32 = 259
	MQFB_COD        int32 = 260
)

// Flags of messages that the queue manager may cut.
const (
	MQMF_SEGMENTATION_ALLOWED int32 = 1
	MQMF_REJECT_UNSUP_MASK    int32 = 0xFFF
)

// Formats (MQFMT_*) of what a queue manager composes.
const (
	MQFMT_DEAD_LETTER_HEADER = "MQDEAD"
	MQFMT_TRIGGER            = "MQTRIG"
	MQFMT_EVENT              = "MQEVENT"
)
