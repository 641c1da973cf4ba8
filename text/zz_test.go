package text_test
import ("testing";"github.com/weftcrawl/weft/links")
type cnt struct{ texts,short,blank,bytes,starts,ends int; lens [6]int}
func (c *cnt) Text(t []byte,p bool){ c.texts++; c.bytes+=len(t); if len(t)<=8 {c.short++}; b:=true; for _,x:=range t { if x>' ' {b=false}}; if b {c.blank++; if len(t)==1 {c.lens[0]++}else if len(t)<=8 {c.lens[1]++} else {c.lens[2]++}} else if len(t)<=8 {c.lens[3]++} else if len(t)<=16 {c.lens[4]++} else {c.lens[5]++}}
func (c *cnt) Start(t,r []byte)bool{c.starts++; return false}
func (c *cnt) End(t []byte){c.ends++}
func TestZZ(t *testing.T){
 for _,s:=range sites { pages,size:=pagesOf(t,s.list,s.root); c:=cnt{}; x:=links.NewExtractor(links.Options{})
 for _,p:=range pages { x.Extract(links.Document{ContentType:"text/html",Body:p,Text:&c},nil)}
 n:=len(pages)
 t.Logf("%s pages %d size %d texts %d short %d blank %d bytes %d starts %d ends %d  blank1 %d blank<=8 %d blank>8 %d text<=8 %d <=16 %d more %d",s.name,n,size/n,c.texts/n,c.short/n,c.blank/n,c.bytes/n,c.starts/n,c.ends/n,c.lens[0]/n,c.lens[1]/n,c.lens[2]/n,c.lens[3]/n,c.lens[4]/n,c.lens[5]/n)
 }
}
