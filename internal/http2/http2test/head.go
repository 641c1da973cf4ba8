package http2test

import "golang.org/x/net/http2/hpack"

// head is the fields of a request that are coming, or of its trailer, and the state of HPACK.
type head struct {
	open    uint32 // stream that they are of; 0: none
	ends    bool   // they end the client's side
	trailer bool
	block   []byte
	fields  []hpack.HeaderField
	decoder *hpack.Decoder
	table   uint32 // bytes that the client's table has at most, as it has said
}

func (h *head) init() {
	h.table = firstTable
	h.decoder = hpack.NewDecoder(firstTable, func(f hpack.HeaderField) { h.fields = append(h.fields, f) })
}

// begin takes HEADERS, but for their payload.
func (h *head) begin(f frame, trailer bool) {
	h.open, h.ends, h.trailer = f.id, f.flags&endStream != 0, trailer
}

// end decodes the block that has come, with a table of most bytes.
func (h *head) end(most uint32) error {
	block := h.block
	h.open, h.block, h.fields = 0, nil, nil
	h.table = tableSize(block, h.table)
	h.decoder.SetAllowedMaxDynamicTableSize(most)
	if _, err := h.decoder.Write(block); err != nil {
		return err
	}
	return h.decoder.Close()
}
