package measure
import ("testing";"context";"time";"os";"github.com/weftcrawl/weft/lab")
func TestMain(m *testing.M){ Child(lab.Ways); os.Exit(m.Run())}
func TestTry(t *testing.T){
 r, err := Compare(context.Background(), Comparison{Ways: lab.Ways, Rounds: 3, Pages: 10, ConnectDelay: 25*time.Millisecond, ResponseDelay: 100*time.Millisecond, Begin: func(lab.Way){}})
 t.Logf("%+v %v", r, err)
 h, err := Hold(context.Background(), Holding{Ways: lab.Ways, Connections: 1000, For: 500*time.Millisecond, Begin: func(lab.Way){}})
 t.Logf("%+v %v", h, err)
 l, err := Latencies{Dir: "/var/tmp", Least: 20*time.Millisecond, File: 64<<20, Begin: func(string){}}.Measure(context.Background())
 for _, x := range l { t.Logf("%+v", x) }
}
