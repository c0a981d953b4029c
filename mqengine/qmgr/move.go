package qmgr
