package object

// otherAttrs are the attributes of namelists, processes and listeners.
var otherAttrs = []Attr{
	{Keyword: "NAMELIST", Kinds: Of(Namelist), Type: Name, MaxLen: MaxName, Key: true, Doc: "The namelist's name."},
	{Keyword: "NAMCOUNT", Kinds: Of(Namelist), Type: Int, Max: 256, Live: true, Doc: "How many names there are."},
	{Keyword: "NAMES", Kinds: Of(Namelist), Type: List, MaxLen: MaxName, MaxItems: 256, Doc: "The names."},

	{Keyword: "PROCESS", Kinds: Of(Process), Type: Name, MaxLen: MaxName, Key: true, Doc: "The process definition's name."},
	{Keyword: "APPLICID", Kinds: Of(Process), Type: String, MaxLen: 256, Doc: "The program to start."},
	{Keyword: "APPLTYPE", Kinds: Of(Process), Type: Enum, Values: []string{"UNIX", "DEF", "CICS", "DOS", "IMS", "MVS", "NOTESAGENT", "OPENVMS", "OS400", "USER", "WINDOWS", "WINDOWSNT"}, Default: "UNIX", Doc: "Type of the program."},
	{Keyword: "ENVRDATA", Kinds: Of(Process), Type: String, MaxLen: 128, Doc: "Environment for the program."},
	{Keyword: "USERDATA", Kinds: Of(Process), Type: String, MaxLen: 128, Doc: "Text for the program."},

	{Keyword: "LISTENER", Kinds: Of(Listener), Type: Name, MaxLen: MaxName, Key: true, Doc: "The listener's name."},
	{Keyword: "BACKLOG", Kinds: Of(Listener), Type: Int, Max: maxCount, Default: "0", Idle: "the system's number counts", Doc: "Waiting connections; 0 for the system's number."},
	{Keyword: "CONTROL", Kinds: Of(Listener), Type: Enum, Values: []string{"MANUAL", "QMGR", "STARTONLY"}, Default: "MANUAL", Doc: "Who starts and stops it."},
	{Keyword: "IPADDR", Kinds: Of(Listener), Type: String, MaxLen: 48, Doc: "Address to listen on; blank for every address."},
	{Keyword: "PORT", Kinds: Of(Listener), Type: Int, Max: 65535, Default: "1414", Doc: "Port to listen on; 0 for any free one, which DISPLAY LSSTATUS tells."},
}
