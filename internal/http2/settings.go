package http2

import "encoding/binary"

// Settings (RFC 9113, section 6.5.2).
const (
	settingTable   = 1
	settingPush    = 2
	settingStreams = 3
	settingWindow  = 4
	settingFrame   = 5
	settingHead    = 6
)

func (c *Conn) settings(f frame, b []byte) {
	switch {
	case f.id != 0:
		c.broken(ProtocolError, "SETTINGS on stream %d, expected none", f.id)
		return
	case f.has(flagAck) && len(b) > 0, len(b)%6 != 0:
		c.broken(FrameSizeError, "SETTINGS of %d bytes", len(b))
		return
	}
	if c.idle(); c.err != nil || f.has(flagAck) {
		return
	}
	if !c.peer.known {
		c.peer.known, c.peer.streams = true, maxID // RFC 9113, section 6.5.2: no limit
	}
	for ; len(b) > 0 && c.err == nil; b = b[6:] {
		c.setting(binary.BigEndian.Uint16(b), binary.BigEndian.Uint32(b[2:]))
	}
	if c.err == nil {
		c.reply(frame{kind: kindSettings, flags: flagAck}, nil)
		c.flush()
	}
}

func (c *Conn) setting(id uint16, value uint32) {
	switch id {
	case settingTable:
		c.fields.encoder.SetMaxDynamicTableSizeLimit(min(value, tableSize))
	case settingPush:
		if value != 0 {
			c.broken(ProtocolError, "the server's SETTINGS_ENABLE_PUSH is %d, expected 0", value)
		}
	case settingStreams:
		c.peer.streams = value
	case settingWindow:
		if value > maxWindow {
			c.broken(FlowControlError, "SETTINGS_INITIAL_WINDOW_SIZE is %d, expected at most %d", value, maxWindow)
			return
		}
		change := int64(value) - c.peer.window
		c.peer.window = int64(value)
		for _, s := range c.streams {
			if s.sendable += change; s.sendable > maxWindow {
				c.broken(FlowControlError, "SETTINGS_INITIAL_WINDOW_SIZE overflows the window of stream %d", s.id)
				return
			}
		}
	case settingFrame:
		if value < maxFrame || value > 1<<24-1 {
			c.broken(ProtocolError, "SETTINGS_MAX_FRAME_SIZE is %d, expected %d to %d", value, maxFrame, 1<<24-1)
			return
		}
		c.peer.frame = int(value)
	}
}
